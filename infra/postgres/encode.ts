import type { AppendRequest } from "#events/ports.ts";
import type { Keyring } from "#events/vault.ts";
import { eventDefinitions } from "#events/index.ts";

/** One command of a batch, encoded for both ways to append. */
export interface EncodedAppend {
  command: {
    command_id: string;
    organization_id: string;
    meta: string;
    fingerprint: string | null;
    http: string | null;
    rejection: string | null;
  };
  events: EncodedEvent[];
  heads: (Omit<AppendRequest["heads"][number], "state"> & { state: string })[];
  keys: { thing: string; stream: string; wrapped: string }[];
  erasures: { thing?: string; stream?: string }[];
  forgotten: { command_id: string }[];
  unchanged: { stream: string; version: number }[];
}

export interface EncodedEvent {
  stream: string;
  version: number;
  type: string;
  shape: number;
  data: string;
  /** The personal fields as JSON, never stored like this. */
  personal: string | null;
  sealed: Buffer | null;
  thing: string | null;
}

/** Wrapped keys by thing: those that the append creates, and those already in the log. */
interface Keys {
  created: Map<string, { stream: string; wrapped: string }>;
  existing: Map<string, string>;
}

/** Things whose keys must already be in the log to seal these events. */
export function neededKeys(append: AppendRequest): string[] {
  const opened = new Set<string>();
  const needed = new Set<string>();
  for (const { event } of append.events) {
    const definition = findDefinition(event.type);
    if (event.personal === undefined || !definition.thing) continue;
    const thing = definition.thing(event.data);
    if (definition.opens) opened.add(thing);
    else if (!opened.has(thing)) needed.add(thing);
  }
  return [...needed];
}

function findDefinition(type: string) {
  const definition = eventDefinitions.get(type);
  if (!definition) throw new Error(`event ${type} is not defined`);
  return definition;
}

function encodeEvent(
  item: AppendRequest["events"][number],
  append: AppendRequest,
  keys: Keys,
  keyring: Keyring,
): EncodedEvent {
  const { event, stream, version } = item;
  const definition = findDefinition(event.type);
  const data = JSON.stringify(definition.public.parse(event.data));
  const encoded = {
    stream,
    version,
    type: event.type,
    shape: definition.version,
    data,
    personal: null,
    sealed: null,
    thing: null,
  };
  if (event.personal === undefined || !definition.personal || !definition.thing) return encoded;

  const thing = definition.thing(event.data);
  if (definition.opens && !keys.created.has(thing))
    keys.created.set(thing, { stream, wrapped: append.keys[thing] ?? keyring.create(thing) });
  const wrapped = keys.created.get(thing)?.wrapped ?? keys.existing.get(thing);
  if (!wrapped) throw new Error(`${event.type} cannot be sealed: ${thing} was erased`);
  const personal = JSON.stringify(definition.personal.parse(event.personal));
  return { ...encoded, thing, personal, sealed: keyring.seal(thing, wrapped, Buffer.from(personal)) };
}

/** Validates, seals and encodes the effects of one command. */
export function encodeAppend(append: AppendRequest, existing: Map<string, string>, keyring: Keyring): EncodedAppend {
  const { command } = append;
  const keys: Keys = { created: new Map(), existing };
  const events = append.events.map((item) => encodeEvent(item, append, keys, keyring));
  return {
    command: {
      command_id: command.id,
      organization_id: command.organization_id,
      // the principal comes first: PRINCIPAL_SQL (decode.ts) expects it there
      meta: JSON.stringify({
        principal: command.principal,
        request_id: command.request_id,
        traceparent: command.traceparent,
      }),
      fingerprint: command.fingerprint ?? null,
      http: command.http ?? null,
      rejection: append.rejection ? JSON.stringify(append.rejection) : null,
    },
    events,
    heads: append.heads.map((head) => ({ ...head, state: JSON.stringify(head.state) })),
    keys: [...keys.created].map(([thing, key]) => ({ thing, ...key })),
    erasures: [
      ...append.erase.things.map((thing) => ({ thing })),
      ...append.erase.streams.map((stream) => ({ stream })),
    ],
    forgotten: append.forget.map((command_id) => ({ command_id })),
    unchanged: append.unchanged ?? [],
  };
}
