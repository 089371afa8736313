"""onesnap"""
