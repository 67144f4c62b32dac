"""Files of numpy as other machines and other kinds of arrays make them."""

import numpy as np
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.mark.parametrize("dtype", [">f8", ">i4", ">u2", ">M8[ms]"])
@pytest.mark.parametrize("shape", [(6,), (3, 2)])
def test_big_endian_numbers_are_read(tmp_path, dtype, shape):
    values = np.arange(6).astype(dtype).reshape(shape)
    for order in (np.ascontiguousarray, np.asfortranarray):
        np.save(tmp_path / "values.npy", order(values))
        read = data.read_numpy(str(tmp_path / "values.npy")).take_batch()["data"]
        assert read.dtype == np.dtype(dtype).newbyteorder("=")
        assert (read == values).all()


@pytest.mark.parametrize("dtype", ["<U1", ">U1", ">c16"])
def test_the_dtype_that_cannot_be_read_is_named_as_the_file_has_it(tmp_path, dtype):
    np.save(tmp_path / "values.npy", np.zeros(2, dtype))
    with pytest.raises(ValueError, match=f"values of dtype {dtype} cannot be read"):
        data.read_numpy(str(tmp_path / "values.npy")).take_all()
