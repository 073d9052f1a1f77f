"""What the user wrote: chats, messages and their store. Knows neither Qt nor torch."""
