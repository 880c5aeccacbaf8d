import { z } from "zod";

/** An event that is not yet in the log. `data` holds the public fields, `personal` the ones that can be erased. */
export interface NewEvent<T extends string = string, D = unknown, P = unknown> {
  type: T;
  data: D;
  personal?: P;
}

/**
 * The definition of one event type.
 * `public` fields stay readable forever. `personal` fields are sealed with the data key of `thing` and are lost when that
 * key is destroyed. `opens` marks the event that creates the thing and its key.
 * `upcasts[n]` converts the stored shape of version n into that of version n + 1; readers apply it once, on read.
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

/** The two halves of a stored event. `personal` is undefined after its thing was erased. */
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
  if (spec.personal && !spec.thing) throw new Error(`${type} has personal fields but no thing that owns them`);
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

/** The definition of one command type: the aggregate that handles it and the shape of its data. */
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

type Exports = Record<string, unknown>;

const isEventDefinition = (value: unknown): value is EventDefinition =>
  typeof value === "object" && value !== null && "upcasts" in value;
const isCommandDefinition = (value: unknown): value is CommandDefinition =>
  typeof value === "object" && value !== null && "aggregate" in value;

/** Union of the events that a module exports: `EventsIn<typeof import("./agent.ts")>`. */
export type EventsIn<Module> = { [Name in keyof Module]: EventFrom<Module[Name]> }[keyof Module];

export const exportedEvents = (module: Exports): EventDefinition[] => Object.values(module).filter(isEventDefinition);

export const exportedCommands = (module: Exports): CommandDefinition[] =>
  Object.values(module).filter(isCommandDefinition);
