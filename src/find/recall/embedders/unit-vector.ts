/** Scales a vector to length one in place; one without length stays zero. */
export function toUnit(vector: Float32Array): Float32Array {
  let sum = 0
  for (const x of vector) sum += x * x
  if (sum === 0 || !Number.isFinite(sum)) return sum === 0 ? vector : vector.fill(0)
  const scale = 1 / Math.sqrt(sum)
  for (let i = 0; i < vector.length; i++) vector[i] = vector[i]! * scale
  return vector
}

/** The cosine of two unit vectors. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}
