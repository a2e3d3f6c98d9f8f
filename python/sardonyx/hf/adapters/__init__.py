"""LoRA adapters: read from folders of peft, as inputs of a model or merged into its weights."""
