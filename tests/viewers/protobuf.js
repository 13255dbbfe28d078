// The few protobuf wire types that Perfetto's trace_processor RPC needs. Fields are [number, value]:
// a value that is a number travels as varint, a string or Uint8Array length-delimited.
'use strict';

function varint(value) {
  const bytes = [];
  for (let v = BigInt(value); ; v >>= 7n) {
    if (v < 128n) return [...bytes, Number(v)];
    bytes.push(Number(v & 127n) | 128);
  }
}

function encode(fields) {
  const parts = [];
  for (const [number, value] of fields) {
    if (typeof value === 'number') {
      parts.push(Buffer.from([...varint(number << 3), ...varint(value)]));
    } else {
      const bytes = Buffer.from(value);
      parts.push(Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes);
    }
  }
  return Buffer.concat(parts);
}

class Reader {
  constructor(bytes) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
  }

  // A BigInt, as signed 64 bits.
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asIntN(64, value);
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  // Each field as {number, value}: BigInt for varint, Buffer for the rest.
  * fields() {
    while (this.at < this.bytes.length) {
      const key = Number(this.varint());
      const number = key >>> 3;
      switch (key & 7) {
        case 0: yield {number, value: this.varint()}; break;
        case 1: yield {number, value: this.take(8)}; break;
        case 2: yield {number, value: this.take(Number(this.varint()))}; break;
        case 5: yield {number, value: this.take(4)}; break;
        default: throw new Error(`wire type ${key & 7} at ${this.at}`);
      }
    }
  }
}

function fieldsOf(bytes) {
  return new Reader(bytes).fields();
}

function varintsOf(bytes) {
  const reader = new Reader(bytes);
  const values = [];
  while (reader.at < bytes.length) values.push(reader.varint());
  return values;
}

module.exports = {encode, fieldsOf, varintsOf};
