import { Rejection } from "#events/rejection.ts";
import { Envelope, type EnvelopeChange } from "#events/workflow.ts";

type Fields = Record<string, unknown>;

/** Merges changed fields into the others. Null removes a field, so that parsing the result restores its default. */
const merge = (before: Fields, change: Fields): Fields =>
  Object.fromEntries(
    Object.entries({
      ...before,
      ...Object.fromEntries(Object.entries(change).filter(([, v]) => v !== undefined)),
    }).filter(([, value]) => value !== null),
  );

/** Applies a change. Throws `invalid_envelope` if the result is not a valid envelope. */
export function changeEnvelope(before: Envelope, change: EnvelopeChange): Envelope {
  const mergeGroup = (name: "limits" | "concurrency" | "start_rate" | "approvals") =>
    change[name] ? merge(before[name] ?? {}, change[name]) : change[name];
  const { data, error } = Envelope.safeParse(
    merge(before, {
      ...change,
      limits: mergeGroup("limits"),
      concurrency: mergeGroup("concurrency"),
      start_rate: mergeGroup("start_rate"),
      approvals: mergeGroup("approvals"),
    }),
  );
  if (data) return data;
  const { path, message } = error.issues[0]!;
  const param = ["envelope", ...path].join(".");
  throw new Rejection("invalid_envelope", `${param}: ${message}.`, { param });
}

/** The envelope of a workflow that sets nothing. */
export const DEFAULT_ENVELOPE: Envelope = Envelope.parse({});
