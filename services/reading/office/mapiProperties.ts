/* The properties of a message or an attachment in a TNEF stream ([MS-OXTNEF], section 2.1.3.4). */

interface MapiProperty {
  type: number;
  /** The first one if there are several. */
  value: Buffer;
}

export interface MapiProperties {
  /** By their numbers. */
  values: Map<number, MapiProperty>;
  /** The numbers of the properties that have a number as their name, by that name. */
  names: Map<number, number>;
}

export const TYPE = { object: 0x0d, bytes: 0x1e, unicode: 0x1f, date: 0x40, binary: 0x102 };

/** Types whose values have a length. */
const VARIABLE = new Set([TYPE.object, TYPE.bytes, TYPE.unicode, TYPE.binary]);
/** Bytes of the values of the other types, with their padding. */
const SIZES: Record<number, number> = {
  0x02: 4,
  0x03: 4,
  0x04: 4,
  0x05: 8,
  0x06: 8,
  0x07: 8,
  0x0a: 4,
  0x0b: 4,
  0x14: 8,
  0x40: 8,
  0x48: 16,
};
const HAS_SEVERAL_VALUES = 0x1000;
const FIRST_NAMED = 0x8000;
const GUID_SIZE = 16;

const padded = (size: number): number => Math.ceil(size / 4) * 4;

export const newProperties = (): MapiProperties => ({ values: new Map(), names: new Map() });

/** Adds the properties of a stream; if it is damaged, those before the damage. */
export function addProperties({ values, names }: MapiProperties, stream: Buffer): void {
  let at = 0;
  const canRead = (size: number): boolean => at + size <= stream.length;
  const next = (): number => {
    at += 4;
    return canRead(0) ? stream.readUInt32LE(at - 4) : 0;
  };
  for (let left = next(); left > 0 && canRead(4); left -= 1) {
    const tag = next();
    const [type, id] = [tag & 0xffff, tag >>> 16];
    if (id >= FIRST_NAMED) {
      at += GUID_SIZE;
      const isText = next() === 1;
      const name = next();
      if (isText) at += padded(name);
      else names.set(name, id);
    }
    const kind = type & ~HAS_SEVERAL_VALUES;
    const isVariable = VARIABLE.has(kind);
    const count = isVariable || kind !== type ? next() : 1;
    for (let index = 0; index < count; index += 1) {
      const size = isVariable ? next() : SIZES[kind];
      if (size === undefined || !canRead(size)) return;
      if (index === 0) values.set(id, { type: kind, value: stream.subarray(at, at + size) });
      at += padded(size);
    }
  }
}
