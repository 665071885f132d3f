"""Answers to the exercises of the chapter on distillation."""

# --8<-- [start:imports]
import numpy as np
# --8<-- [end:imports]

from snippets.distillation.numpy_reference import (
    distillation_grad,
    distillation_loss,
    kl_divergence,
)
from snippets.probabilities.numpy_reference import softmax
from snippets.stability.numpy_reference import soft_cross_entropy


# --8<-- [start:two_to_one]
temperature = np.log(0.95 / 0.03) / np.log(2)  # the odds of 0.95 : 0.03 become 2 : 1
probs = softmax(np.log([0.95, 0.03] + [0.02 / 8] * 8) / temperature)
print(f"T = {temperature:.4f}: {probs[0]:.4f} against {probs[1]:.4f}")
#> T = 4.9849: 0.2545 against 0.1272
# --8<-- [end:two_to_one]


# --8<-- [start:cross_entropy_instead]
teacher = np.array([[2.0, 1.0, 0.0], [0.5, 0.5, 4.0]])
student = np.array([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]])
targets = softmax(teacher / 4.0)
entropy = -np.mean(np.sum(targets * np.log(targets), axis=-1))
divergence = np.mean(kl_divergence(targets, student / 4.0))
print(f"{soft_cross_entropy(student / 4.0, targets):.6f}")
#> 1.055261
print(f"{divergence:.6f} + {entropy:.6f} = {divergence + entropy:.6f}")
#> 0.014123 + 1.041139 = 1.055261
# --8<-- [end:cross_entropy_instead]


# --8<-- [start:copy_the_logits]
teacher, student = np.array([3.0, 1.0, -2.0]), np.array([5.0, 0.0, 0.0])
for temperature in (1, 10, 1000):
    z, start = student.copy(), distillation_loss(student, teacher, temperature)
    for _ in range(20):
        z -= 2 * distillation_grad(z, teacher, temperature)
    end = distillation_loss(z, teacher, temperature)
    print(f"T = {temperature:4}: {start:.4f} -> {end:.4f}, logits {z.round(2)}")
    #> T =    1: 0.2360 -> 0.0034, logits [ 3.71  1.67 -0.38]
    #> T =   10: 0.9713 -> 0.0000, logits [ 4.  2. -1.]
    #> T = 1000: 0.9998 -> 0.0000, logits [ 4.  2. -1.]
print(f"teacher, moved to the student's mean: {teacher - teacher.mean() + z.mean()}")
#> teacher, moved to the student's mean: [ 4.  2. -1.]
# --8<-- [end:copy_the_logits]
