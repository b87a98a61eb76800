/** A vector at length 1 as bytes: the step (float32), then one signed byte for each dimension. Zeros stay zeros. */
export function packVector(v: Float32Array): Uint8Array {
  let max = 0
  let norm = 0
  for (const x of v) {
    max = Math.max(max, Math.abs(x))
    norm += x * x
  }
  const step = max / 127 || 1
  const out = new Uint8Array(4 + v.length)
  new DataView(out.buffer).setFloat32(0, norm > 0 ? step / Math.sqrt(norm) : 0, true)
  const bytes = new Int8Array(out.buffer, 4)
  for (let i = 0; i < v.length; i++) bytes[i] = Math.round(v[i]! / step)
  return out
}

const stepOf = (data: Uint8Array): number => new DataView(data.buffer, data.byteOffset).getFloat32(0, true)

const bytesOf = (data: Uint8Array): Int8Array => new Int8Array(data.buffer, data.byteOffset + 4, data.byteLength - 4)

export function unpackVector(data: Uint8Array): Float32Array {
  const step = stepOf(data)
  return Float32Array.from(bytesOf(data), (b) => b * step)
}

/** The cosine of a vector as bytes to one of length 1. */
export function cosineTo(data: Uint8Array, q: Float32Array): number {
  const bytes = bytesOf(data)
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let i = 0
  for (; i + 3 < q.length; i += 4) {
    a += bytes[i]! * q[i]!
    b += bytes[i + 1]! * q[i + 1]!
    c += bytes[i + 2]! * q[i + 2]!
    d += bytes[i + 3]! * q[i + 3]!
  }
  for (; i < q.length; i++) a += bytes[i]! * q[i]!
  return (a + b + c + d) * stepOf(data)
}

/** One bit for each dimension: whether it is positive. */
export function signsOf(v: Float32Array | Int8Array): Int32Array {
  const out = new Int32Array(Math.ceil(v.length / 32))
  for (let i = 0; i < v.length; i++) if (v[i]! > 0) out[i >> 5]! |= 1 << (i & 31)
  return out
}

export const signsOfPacked = (data: Uint8Array): Int32Array => signsOf(bytesOf(data))
