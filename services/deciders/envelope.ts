import { Rejection } from "#events/rejection.ts";
import { Envelope, type EnvelopeChange } from "#events/workflow.ts";

type Fields = Record<string, unknown>;

/** Fields over others; a null takes one out, so that its default comes in when the whole is parsed. */
const over = (before: Fields, change: Fields): Fields =>
  Object.fromEntries(
    Object.entries({
      ...before,
      ...Object.fromEntries(Object.entries(change).filter(([, v]) => v !== undefined)),
    }).filter(([, value]) => value !== null),
  );

/** The envelope as it is with a change. Throws `invalid_envelope` where the two do not make one. */
export function changeEnvelope(before: Envelope, change: EnvelopeChange): Envelope {
  const within = (name: "limits" | "concurrency" | "approvals") =>
    change[name] ? over(before[name] ?? {}, change[name]) : change[name];
  const { data, error } = Envelope.safeParse(
    over(before, {
      ...change,
      limits: within("limits"),
      concurrency: within("concurrency"),
      approvals: within("approvals"),
    }),
  );
  if (data) return data;
  const { path, message } = error.issues[0]!;
  const param = ["envelope", ...path].join(".");
  throw new Rejection("invalid_envelope", `${param}: ${message}.`, { param });
}

/** What a workflow has of which nothing is said. */
export const DEFAULT_ENVELOPE: Envelope = Envelope.parse({});
