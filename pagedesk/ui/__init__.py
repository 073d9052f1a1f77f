"""The window: widgets show and emit, controllers decide, models hold."""
