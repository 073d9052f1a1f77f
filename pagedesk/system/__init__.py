"""What the program needs from the machine: folders, logs, errors, resources, hardware."""
