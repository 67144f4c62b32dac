/** Exponential smoothing without the pull of the first value, as TensorBoard has it. Gaps stay gaps. */
export function smooth(values, weight) {
  if (!weight) return values;
  let mean = 0;
  let seen = 0;
  return values.map((value) => {
    if (value === null || value === undefined) return value;
    seen += 1;
    mean = mean * weight + value * (1 - weight);
    return mean / (1 - weight ** seen);
  });
}
