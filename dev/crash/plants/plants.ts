import type { Fault } from "../faults/plan.ts";
import type { Plant } from "./plant.ts";

/* The bugs that the harness can plant. */

/** True for every nth evaluation in a process. */
const every = (n: number, name: string): string =>
  `(((globalThis as any).planted_${name} = ((globalThis as any).planted_${name} ?? 0) + 1) % ${n} === 0)`;

const KILL_SERVICES: Fault[] = [
  { what: "kill", role: "services", n: 1 },
  { what: "kill", role: "services", n: 2 },
];

export const PLANTS: Plant[] = [
  {
    name: "append-dropped",
    file: "services/handle.ts",
    text: "const appended = await log.append(plan.append);",
    // an answer that waits for the read model would be a 404 instead of a false acknowledgement
    instead: `const appended = plan.append.events[0]?.event.type === "FileDeleted" && ${every(2, "append")}
      ? ({ kind: "committed", first: 1, last: 1 } as any) : await log.append(plan.append);`,
    rules: ["I1"],
    load: ["upload", "deleteFile"],
  },
  {
    name: "dedupe-skipped",
    file: "http/base/idempotency.ts",
    text: "id: key === undefined ? newCommandId() : hash([...sender, key]),",
    instead: "id: newCommandId(),",
    rules: ["I3"],
  },
  {
    name: "event-decided-twice",
    file: "services/appendPlan.ts",
    text: "const events = decider.decide(command, state);",
    instead: `const events = decider.decide(command, state);
    if (events[0]?.type === "KeyCreated" || events[0]?.type === "ProjectCreated") events.push(...events);`,
    rules: ["I3"],
  },
  {
    name: "projection-skips",
    file: "projections/turns/project.ts",
    text: "TurnTakenOver: ({ data }) => patch(data.turn_id, { attempt: data.attempt }),",
    instead: "TurnTakenOver: () => [],",
    rules: ["I6"],
    load: ["newThread", "goOn"],
    faults: KILL_SERVICES,
  },
  {
    name: "reaction-lost",
    file: "infra/nats/reactions.ts",
    text: "await jetstream(connection.nc).publish(names.reaction(event), JSON.stringify(event), {",
    instead: `if (${every(5, "reaction")}) return;
        await jetstream(connection.nc).publish(names.reaction(event), JSON.stringify(event), {`,
    rules: ["I12"],
    load: ["upload", "deleteFile"],
    faults: [{ what: "kill", role: "meilisearch" }],
  },
  {
    name: "stream-ends-early",
    file: "http/chat/chunks.ts",
    text: 'return [progress, type === "text" ? content(words) : thoughts(words)];',
    instead: 'return [progress, progress.text.length > 120 ? "" : type === "text" ? content(words) : thoughts(words)];',
    rules: ["I11"],
  },
  {
    name: "timer-fires-twice",
    file: "services/deciders/run.ts",
    text: "Object.entries(timers).map(([key, time]) => dueEvent(time, TimerFired.of({ run_id, key })));",
    instead:
      "Object.entries(timers).flatMap(([key, time]) => [1, 2].map(() => dueEvent(time, TimerFired.of({ run_id, key }))));",
    rules: ["I10"],
    load: ["startRun"],
  },
  {
    name: "decision-counted-twice",
    file: "services/deciders/runApprovals.ts",
    text: "return [...events, ...advance(",
    instead: "return [...events, decided, ...advance(",
    rules: ["I10"],
    load: ["startRun", "decideApprovals"],
    faults: [{ what: "kill", role: "meilisearch" }],
  },
  {
    name: "vote-counted-twice",
    file: "services/deciders/runApprovals.ts",
    text: "approval.votes?.cast.find((vote) => votersOf(approval, vote)",
    instead: "[...(approval.votes?.cast ?? [])].slice(0, 0).find((vote) => votersOf(approval, vote)",
    rules: ["I10"],
    load: ["startVoted", "vote"],
  },
  {
    name: "substitute-votes-twice",
    file: "services/deciders/runApprovals.ts",
    text: "...(in_place_of ? [person(in_place_of)] : []),",
    instead: "...(in_place_of ? [person(in_place_of)] : []).slice(0, 0),",
    rules: ["I10"],
    load: ["startVoted", "vote"],
  },
  {
    name: "chain-breaks",
    file: "services/workflows/continueRun.ts",
    text: 'const target = { organization_id, stream: streamName("run", run_id) };',
    instead: `if (${every(2, "chain")}) return;
  const target = { organization_id, stream: streamName("run", run_id) };`,
    rules: ["I10"],
    load: ["startChained"],
  },
  {
    name: "export-skips",
    file: "http/owned/exportLines.ts",
    text: "yield* rows;",
    instead: "yield* rows.slice(1);",
    rules: ["I18"],
    load: ["upload", "newThread", "exportUser"],
  },
  {
    name: "retention-too-early",
    file: "projections/retention/expired.ts",
    text: "new Date(now.getTime() - days * DAY_MS);",
    instead: "new Date(now.getTime() - days * 100);",
    rules: ["I1"],
    load: ["upload", "newThread", "setRetention"],
  },
  {
    name: "retry-doubled",
    file: "http/workflows/retryAndFork.ts",
    text: 'const retryId = (run_id: string): string => deriveId("retry", run_id);',
    instead: 'const retryId = (run_id: string): string => deriveId("retry", run_id, newId());',
    rules: ["I3"],
    load: ["failAndRetry"],
  },
  {
    name: "message-not-delivered",
    file: "services/workflows/deliverMessage.ts",
    text: "const all = found.waits;",
    instead: `const all = found.waits.filter(() => !${every(3, "message")});`,
    rules: ["I10"],
    load: ["startListener"],
  },
  {
    name: "erased-key-stays",
    file: "infra/postgres/encode.ts",
    text: "...append.erase.things.map((thing) => ({ thing })),",
    instead: "",
    rules: ["I12"],
    load: ["upload", "deleteFile"],
  },
  {
    name: "blob-removed-early",
    file: "infra/blobs.ts",
    text: 'failpoint("after-blob-rename");',
    // later, because the definitions of the harness itself are read at once
    instead: `failpoint("after-blob-rename"); if (${every(8, "blob")}) setTimeout(() => void rm(path, { force: true }), 3_000);`,
    rules: ["I12"],
    load: ["upload", "withFile"],
  },
  {
    name: "blob-not-synced",
    file: "infra/blobs.ts",
    text: " | constants.O_SYNC",
    instead: "",
    rules: ["I12"],
    load: ["upload", "withFile"],
    faults: [{ what: "power", store: "blobs", lost_ms: 0 }],
  },
  {
    name: "removal-not-synced",
    file: "infra/blobRemoval.ts",
    text: "await syncFolder(dirname(path), limitSyncs);",
    instead: "if (!path) await syncFolder(dirname(path), limitSyncs);",
    rules: ["I12"],
    load: ["upload", "deleteFile"],
    faults: [{ what: "power", store: "blobs", lost_ms: 0 }],
  },
  {
    name: "lease-held-twice",
    file: "services/deciders/threadState.ts",
    text: "return turn?.id === data.turn_id && turn.attempt === data.attempt ? turn : undefined;",
    instead: "return turn?.id === data.turn_id ? turn : undefined;",
    rules: ["I9"],
    load: ["newThread", "goOn", "respond"],
    // a lease expires after 10 s, and the process continues while another one has its turns
    faults: [
      { what: "stop", role: "services", n: 1, ms: 13_000 },
      { what: "stop", role: "services", n: 2, ms: 13_000 },
    ],
  },
  {
    name: "readyz-lies",
    file: "http/meta/routes.ts",
    text: "const ready = Object.values(checks).every(({ ok }) => ok);",
    instead: "const ready = Object.keys(checks).length > 0;",
    rules: ["I24"],
    load: ["newThread"],
    faults: [{ what: "stop", role: "postgres", ms: 15_000 }],
  },
  {
    name: "consumer-lost",
    file: "infra/nats/streams.ts",
    text: "if (!found) return (await addConsumer(jsm, stream, spec, onUnreadable)).config;",
    instead: `if (spec.durable_name === "reactors" && (await jsm.streams.info(stream)).state.last_seq > 0) {
    if (found) await jsm.consumers.delete(stream, spec.durable_name);
    return spec;
  }
  if (!found) return (await addConsumer(jsm, stream, spec, onUnreadable)).config;`,
    rules: ["I12"],
    load: ["upload", "deleteFile"],
    faults: [{ what: "kill", role: "nats" }],
  },
  {
    name: "index-entry-stays",
    // after the comparison of the index with the read model, which would remove what the follower forgets
    file: "infra/meilisearch/filter.ts",
    text: "whole.map(({ document_id }) => document_id),",
    instead: "[],",
    rules: ["I7"],
    load: ["uploadDocument", "deleteDocument"],
  },
  {
    name: "feed-skips",
    file: "infra/nats/feed.ts",
    text: "if (events.length === 0) return;",
    instead: `if (events.length === 0 || ${every(40, "feed")}) return;`,
    rules: ["I17"],
  },
  {
    name: "usage-counted-twice",
    file: "projections/usage/project.ts",
    text: "    turns,\n    prompt_tokens,",
    instead: "    turns: turns * 2,\n    prompt_tokens,",
    rules: ["I13", "I6"],
  },
  {
    name: "failures-forgotten",
    file: "services/turns/nextTarget.ts",
    text: "failures.filter(wasAsked).length < max_attempts",
    instead: "failures.filter(wasAsked).length < max_attempts * 3",
    rules: ["I25"],
    load: ["newThread", "goOn"],
  },
  {
    name: "reservation-stays",
    file: "projections/usage/project.ts",
    text: "turns: n === 0 ? 1 : 0 })),\n    release(event, turn_id),",
    // as if the process that took over the turn had to release the reservation of the killed one
    instead: "turns: n === 0 ? 1 : 0 })),\n    ...(event.data.attempt > 1 ? [] : [release(event, turn_id)]),",
    rules: ["I20"],
    load: ["newThread", "goOn"],
    faults: KILL_SERVICES,
  },
  {
    name: "commit-not-on-disk",
    file: "infra/postgres/pool.ts",
    text: 'pool.on("error", () => {});',
    instead: `pool.on("error", () => {});
  pool.on("connect", (client) => void client.query("set synchronous_commit = off").catch(() => {}));`,
    // the feed may have published what the log has lost
    rules: ["I1", "I17"],
    load: ["createProject", "createKey"],
    faults: [
      { what: "crash", role: "postgres", after: "project.create" },
      { what: "crash", role: "postgres", after: "key.create" },
    ],
  },
  {
    name: "read-models-taken-as-regained",
    file: "projections/progress.ts",
    text: "if (lost.size === 0) return;",
    instead: "if (lost.size >= 0) return;",
    rules: ["I16"],
    // an existing row is used without waiting for the read model
    load: ["switchAgent"],
    faults: [{ what: "crash", role: "postgres", after: "agent.disable", loses: "agents" }],
  },
  {
    name: "file-of-each-attempt",
    file: "services/workflows/host/files.ts",
    text: 'const file_id = deriveId("file of a step", run_id, key, ...call);',
    instead: 'const file_id = deriveId("file of a step", run_id, key, ...call, globalThis.crypto.randomUUID());',
    rules: ["I10"],
    load: ["startStoring"],
    faults: KILL_SERVICES,
  },
];

export function findPlant(name: string): Plant {
  const found = PLANTS.find((plant) => plant.name === name);
  if (!found) throw new Error(`--plant ${name}: choose from ${PLANTS.map((plant) => plant.name).join(", ")}`);
  return found;
}
