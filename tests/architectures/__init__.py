"""Small models of every architecture in transformers, captured, converted and compared.

    python -m tests.architectures capture  [--models bert,gpt2] [--jobs 2]
    python -m tests.architectures compare  [--command build/bin/sardonyx]
    python -m tests.architectures summary

Each step keeps what it has done under `--cache` and goes on from there.
"""
