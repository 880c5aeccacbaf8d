import type { Append, Keyring } from "#events/ports.ts";
import { eventDefinitions } from "#events/index.ts";

/** A command's part of a batch, as `log.append` takes it; the batch adds the command's number. */
export interface EncodedAppend {
  command: Record<string, unknown> & { command_id: string };
  events: Record<string, unknown>[];
  heads: Record<string, unknown>[];
  keys: { thing: string; stream: string; wrapped: string }[];
  erasures: Record<string, unknown>[];
  forgotten: Record<string, unknown>[];
}

/** Wrapped keys by thing: those that the append makes, and those that stand in the log. */
interface Keys {
  made: Map<string, { stream: string; wrapped: string }>;
  standing: Map<string, string>;
}

/** Things whose events need a key that must already be in the log. */
export function neededKeys(append: Append): string[] {
  const opened = new Set<string>();
  const needed = new Set<string>();
  for (const { event } of append.events) {
    const definition = definitionOf(event.type);
    if (event.personal === undefined || !definition.thing) continue;
    const thing = definition.thing(event.data);
    if (definition.opens) opened.add(thing);
    else if (!opened.has(thing)) needed.add(thing);
  }
  return [...needed];
}

function definitionOf(type: string) {
  const definition = eventDefinitions.get(type);
  if (!definition) throw new Error(`no event is called ${type}`);
  return definition;
}

function encodeEvent(item: Append["events"][number], append: Append, keys: Keys, keyring: Keyring) {
  const { event, stream, version } = item;
  const definition = definitionOf(event.type);
  const data = JSON.stringify(definition.public.parse(event.data));
  const encoded = {
    stream,
    version,
    type: event.type,
    shape: definition.version,
    data,
    sealed: null as string | null,
    thing: null as string | null,
  };
  if (event.personal === undefined || !definition.personal || !definition.thing) return encoded;

  const thing = definition.thing(event.data);
  if (definition.opens && !keys.made.has(thing))
    keys.made.set(thing, { stream, wrapped: append.keys[thing] ?? keyring.create(thing) });
  const wrapped = keys.made.get(thing)?.wrapped ?? keys.standing.get(thing);
  if (!wrapped) throw new Error(`${event.type} speaks of ${thing}, which was erased`);
  const plain = Buffer.from(JSON.stringify(definition.personal.parse(event.personal)));
  return { ...encoded, thing, sealed: keyring.seal(thing, wrapped, plain).toString("base64") };
}

/** Validates, seals and encodes one command's effect. */
export function encodeAppend(append: Append, standing: Map<string, string>, keyring: Keyring): EncodedAppend {
  const { command } = append;
  const keys: Keys = { made: new Map(), standing };
  const events = append.events.map((item) => encodeEvent(item, append, keys, keyring));
  return {
    command: {
      command_id: command.id,
      organization_id: command.organization_id,
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
    keys: [...keys.made].map(([thing, key]) => ({ thing, ...key })),
    erasures: [
      ...append.erase.things.map((thing) => ({ thing })),
      ...append.erase.streams.map((stream) => ({ stream })),
    ],
    forgotten: append.forget.map((command_id) => ({ command_id })),
  };
}
