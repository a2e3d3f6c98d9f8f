from .judge import Verdict


def judged(seed):
    return Verdict("right"), ""
