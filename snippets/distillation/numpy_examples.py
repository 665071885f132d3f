"""What the chapter on distillation shows, run in NumPy."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.distillation.numpy_reference import (
    distillation_grad,
    distillation_loss,
    distillation_objective,
    kl_divergence,
    kl_divergence_simple,
)
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import cross_entropy, cross_entropy_grad


# --8<-- [start:ratio]
article = np.log([0.95, 0.03] + [0.02 / 8] * 8)  # "7", "1", and eight others
for temperature in (1, 4, 20, 100):
    seven, one, other = softmax(article / temperature)[:3]
    print(f"T = {temperature:3}: {seven:.4f} {one:.4f} {other:.4f}", end="  ")
    print(f"1 against another {one / other:.3f}")
    #> T =   1: 0.9500 0.0300 0.0025  1 against another 12.000
    #> T =   4: 0.3093 0.1304 0.0700  1 against another 1.861
    #> T =  20: 0.1284 0.1081 0.0954  1 against another 1.132
    #> T = 100: 0.1052 0.1016 0.0991  1 against another 1.025
# --8<-- [end:ratio]


# --8<-- [start:two_directions]
p, q = np.array([0.5, 0.49, 0.01]), np.array([0.98, 0.01, 0.01])
print(f"KL(p || q) = {kl_divergence_simple(p, np.log(q)):.4f}")
#> KL(p || q) = 1.5705
print(f"KL(q || p) = {kl_divergence_simple(q, np.log(p)):.4f}")
#> KL(q || p) = 0.6206
# --8<-- [end:two_directions]


# --8<-- [start:impossible_classes]
probs, logits = np.array([0.0, 0.4, 0.6]), np.array([-np.inf, 0.0, 1.0])
with np.errstate(divide="ignore", invalid="ignore"):
    plain = np.sum(probs * (np.log(probs) - np.log(softmax(logits))))
print(plain, kl_divergence(probs, logits).round(6))
#> nan 0.04025
print(kl_divergence([0.2, 0.8], [-np.inf, 0.0]))
#> inf
# --8<-- [end:impossible_classes]


# --8<-- [start:squared_temperature]
teacher = np.array([6.0, 2.0, -1.0, -7.0])
student = np.array([3.0, 1.0, 0.5, -4.5])
for temperature in (1, 2, 5, 20, 100):
    scaled = softmax(student / temperature) - softmax(teacher / temperature)
    grad = np.linalg.norm(scaled / temperature)
    print(f"T = {temperature:3}: {grad:.6f}, times T^2 {temperature**2 * grad:.4f}")
    #> T =   1: 0.196798, times T^2 0.1968
    #> T =   2: 0.158021, times T^2 0.6321
    #> T =   5: 0.040154, times T^2 1.0038
    #> T =  20: 0.002703, times T^2 1.0812
    #> T = 100: 0.000108, times T^2 1.0781
gap = student - teacher - np.mean(student - teacher)
print(f"||student - teacher|| / n = {np.linalg.norm(gap) / 4:.4f}")
#> ||student - teacher|| / n = 1.0753
# --8<-- [end:squared_temperature]


# --8<-- [start:hot_loss]
teacher = np.array([6.0, 2.0, -1.0, -7.0])
student = np.array([3.0, 1.0, 0.5, -4.5])
for temperature in (1, 5, 20, 100, 1000):
    loss = distillation_loss(student, teacher, temperature)
    print(f"T = {temperature:4}: {loss:.4f}")
    #> T =    1: 0.1382
    #> T =    5: 1.8033
    #> T =   20: 2.2987
    #> T =  100: 2.3189
    #> T = 1000: 2.3134
gap = student - teacher - np.mean(student - teacher)
print(f"squared error of the logits / 2n = {np.sum(gap**2) / 8:.4f}")
#> squared error of the logits / 2n = 2.3125
# --8<-- [end:hot_loss]


# --8<-- [start:same_temperature]
teacher, temperature = np.array([3.0, 1.0, -2.0]), 4.0
targets = softmax(teacher / temperature)
for name, t in [("both at T = 4", temperature), ("student at T = 1", 1.0)]:
    student = np.zeros(3)
    for _ in range(2000):
        student -= 2 * t * (softmax(student / t) - targets)
    print(f"{name}: logits {student.round(2)}, at T = 1 {softmax(student).round(3)}")
    #> both at T = 4: logits [ 2.33  0.33 -2.67], at T = 1 [0.876 0.118 0.006]
    #> student at T = 1: logits [ 0.58  0.08 -0.67], at T = 1 [0.528 0.32  0.151]
print(f"teacher: logits {teacher - teacher.mean().round(2)}", end=", ")
print(f"at T = 1 {softmax(teacher).round(3)}")
#> teacher: logits [ 2.33  0.33 -2.67], at T = 1 [0.876 0.118 0.006]
# --8<-- [end:same_temperature]


# --8<-- [start:hard_and_soft]
teacher = np.array([[2.0, 1.0, 0.0], [0.5, 0.5, 4.0]])
student = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
target = np.array([0, 2])
for soft_weight in (0.0, 0.5, 1.0):
    loss = distillation_objective(student, teacher, target, 4.0, soft_weight)
    print(f"soft weight {soft_weight}: {loss:.6f}")
    #> soft weight 0.0: 0.765126
    #> soft weight 0.5: 0.495543
    #> soft weight 1.0: 0.225961
print(f"labels alone: {cross_entropy(student, target):.6f}")
#> labels alone: 0.765126
# --8<-- [end:hard_and_soft]


# --8<-- [start:forgotten_square]
teacher = np.array([[2.0, 1.0, 0.0], [0.5, 0.5, 4.0]])
student = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
hard = np.linalg.norm(cross_entropy_grad(student, np.array([0, 2])))
for temperature in (1, 4, 20):
    soft = np.linalg.norm(distillation_grad(student, teacher, temperature))
    print(f"T = {temperature:2}: labels {hard:.4f}, teacher {soft:.4f}", end=", ")
    print(f"teacher without T^2 {soft / temperature**2:.4f}")
    #> T =  1: labels 0.5031, teacher 0.2910, teacher without T^2 0.2910
    #> T =  4: labels 0.5031, teacher 0.2768, teacher without T^2 0.0173
    #> T = 20: labels 0.5031, teacher 0.2731, teacher without T^2 0.0007
# --8<-- [end:forgotten_square]


# --8<-- [start:mean_over_rows]
teacher = np.array([[2.0, 1.0, 0.0], [0.5, 0.5, 4.0]])
student = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
loss = distillation_loss(student, teacher, 4.0)
p, q = softmax(teacher / 4), softmax(student / 4)
elementwise = 16 * np.mean(p * np.log(p / q))  # divides by rows and by classes
print(f"{loss:.6f} {elementwise:.6f}, {loss / elementwise:.1f} times too small")
#> 0.225961 0.075320, 3.0 times too small
# --8<-- [end:mean_over_rows]
