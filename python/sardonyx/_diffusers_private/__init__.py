"""The one package that asks diffusers for its models, by the names that folders of pipelines have.

`features` says what the installed release lacks, and which of our features need it.
"""
