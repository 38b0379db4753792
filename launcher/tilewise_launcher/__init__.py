"""The `tilewise` command: starts a program alone or on many ranks. Imports nothing of the runtime itself."""
