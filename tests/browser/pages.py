"""What tests ask of an open page."""


def canvas_is_drawn(page, selector):
    """Whether a canvas has pixels of more than one colour."""
    return page.wait_for_function(
        """(selector) => {
            const canvas = document.querySelector(selector);
            if (!canvas?.width) return false;
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size > 3;
        }""",
        arg=selector,
    )
