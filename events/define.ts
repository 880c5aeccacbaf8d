import { z } from "zod";

/** An event before it is in the log: public fields in `data`, everything else in `personal`. */
export interface NewEvent<T extends string = string, D = unknown, P = unknown> {
  type: T;
  data: D;
  personal?: P;
}

/**
 * The definition of one event type.
 * `public` fields are readable for ever; `personal` ones are sealed with the data key of `thing` and end with it.
 * `opens` marks the event with which the thing, and so its key, comes into being.
 * `upcasts[n]` turns the stored shape of version n into that of version n + 1, once, on read.
 */
export interface EventDefinition<T extends string = string, D = any, P = any> {
  type: T;
  version: number;
  public: z.ZodType<D>;
  personal: z.ZodType<P> | undefined;
  thing: ((data: D) => string) | undefined;
  opens: boolean;
  upcasts: Record<number, (stored: StoredFields) => StoredFields>;
  of(data: D, ...personal: [P] extends [undefined] ? [] : [P]): NewEvent<T, D, P>;
}

/** The two halves of a stored event. `personal` is undefined once its thing was erased. */
export interface StoredFields {
  data: Record<string, unknown>;
  personal: Record<string, unknown> | undefined;
}

export type EventFrom<Definition> =
  Definition extends EventDefinition<infer T, infer D, infer P> ? NewEvent<T, D, P> : never;

interface Spec<D, P> {
  public: z.ZodType<D>;
  personal?: z.ZodType<P>;
  thing?: (data: D) => string;
  opens?: boolean;
  version?: number;
  upcasts?: Record<number, (stored: StoredFields) => StoredFields>;
}

export function defineEvent<const T extends string, D, P = undefined>(
  type: T,
  spec: Spec<D, P>,
): EventDefinition<T, D, P> {
  if (spec.personal && !spec.thing) throw new Error(`${type} has personal fields but names no thing they belong to`);
  return {
    type,
    version: spec.version ?? 1,
    public: spec.public,
    personal: spec.personal,
    thing: spec.thing,
    opens: spec.opens ?? false,
    upcasts: spec.upcasts ?? {},
    of: (data, ...[personal]) => (personal === undefined ? { type, data } : { type, data, personal }),
  };
}

/** The definition of one command type: whom it is for and what it carries. */
export interface CommandDefinition<T extends string = string, D = any> {
  type: T;
  aggregate: string;
  schema: z.ZodType<D>;
}

export function defineCommand<const T extends string, D>(
  type: T,
  aggregate: string,
  schema: z.ZodType<D>,
): CommandDefinition<T, D> {
  return { type, aggregate, schema };
}
