"""Edge semantics, one file a family: what the operator database does not reach.

A case is a line: a lambda and its inputs. Each is captured with static and with dynamic sizes,
exported, run in ONNX Runtime and compared with eager PyTorch; with dynamic sizes also at other
sizes than the captured ones. Every row is right or says that it is refused, and with what.
"""
