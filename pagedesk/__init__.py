"""PageDesk: private chats on your own graphics card, on a paged inference engine of its own."""

__version__ = "0.1.0"
