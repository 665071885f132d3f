# How mkdocs-jupyter runs the labs; it has no options of its own for these.
c = get_config()  # noqa: F821

c.NotebookClient.timeout = 120  # seconds a cell may take; without it a hanging cell hangs the build
c.NotebookClient.extra_arguments = ["--InlineBackend.figure_format=svg"]
c.NotebookClient.coalesce_streams = True  # a cell's prints are one output, however they arrive
c.KernelManager.transport_encryption = "auto"  # else anyone on the machine can listen in, and the kernel warns of it
