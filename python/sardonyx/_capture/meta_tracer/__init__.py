"""Captures a module by running it once on tensors that know their sizes and hold nothing.

Far quicker than torch.export, whose program it gives, and sure of less: it declines whatever it has
no rule for, and torch.export captures that.
"""
