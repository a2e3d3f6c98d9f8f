"""Speed, memory and size compared with torch.onnx's exporter and a plain write, in one run.

    python -m bench                                    everything, at published sizes
    python -m bench --parts conversion --models bert   one part of it
    python -m bench --size small                       whether it works

Every measurement runs in a process of its own. Absolute times are this machine's at that moment;
what is judged are ratios of times taken in interleaved runs.
"""
