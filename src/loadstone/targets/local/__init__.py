"""What all servers that Loadstone starts on this machine need: an account, a marked folder."""
