"""The chat panes, the list of chats and what drives them."""
