def page(kept):
    return ""
