import type { RecordedEvent } from "#events/envelope.ts";
import type { FeedEvent } from "#events/published.ts";
import { WRITES } from "../journal.ts";
import type { Verdict } from "./checkAll.ts";
import type { Evidence } from "./evidence.ts";
import { faultTable } from "./faultTable.ts";
import type { Finding } from "./finding.ts";
import { recovery, slowRefusals, type Spread } from "./recovery.ts";

const SHOWN = 20;

const spread = ({ p50, p99, max }: Spread): string => `p50 ${p50} p99 ${p99} max ${max} ms`;

/** The summary line, after the findings it rests on. */
export function summarize(evidence: Evidence, { findings, orphans }: Verdict): string {
  const { operations, faults, turns, events, effects, feed } = evidence;
  const happened = (type: string) => events.filter((event) => event.type === type).length;
  const lost = events.filter(
    ({ type, data }: RecordedEvent<any>) => type === "RunTaken" && data.reason === "lost",
  ).length;
  const count = (kind: Finding["kind"]) => findings.filter((finding) => finding.kind === kind).length;
  const outcomes = (outcome: string) => operations.filter((operation) => operation.outcome === outcome).length;
  const did = (what: RegExp) => operations.filter((one) => what.test(one.what)).length;
  const received = new Set(feed.map(({ text }) => (JSON.parse(text) as FeedEvent).position)).size;
  const writes = operations.filter(({ what, outcome }) => WRITES.has(what) && outcome === "done").length;
  const { first, slowest, delayed } = recovery(evidence);
  const refusals = slowRefusals(evidence);
  const late = refusals.slow > 0 ? ` (${refusals.slowest.join(", ")})` : "";
  const shown = findings.slice(0, SHOWN).map(({ kind, rule, about, what }) => `${kind} (${rule}) ${about}: ${what}`);
  return [
    ...shown,
    ...(findings.length > SHOWN ? [`and ${findings.length - SHOWN} more in verdict.json`] : []),
    ...faultTable(evidence),
    `operations ${operations.length}: done ${outcomes("done")}, refused ${outcomes("refused")}, failed ${outcomes("failed")}, unknown ${outcomes("unknown")}; ` +
      `turns ${turns.length}, taken over ${turns.filter(({ takeovers }) => takeovers > 0).length}; blobs without an event ${orphans}`,
    `runs ${happened("RunCreated")}: completed ${happened("RunCompleted")}, failed ${happened("RunFailed")}, cancelled ${happened("RunCancelled")}, by schedules ${happened("ScheduledRunStarted")}, ` +
      `taken over ${lost}; steps ${happened("StepCompleted")}, attempts lost ${happened("StepAttemptLost")}, effects ${effects.length}`,
    `feed: ${received} events received, ${feed.length - received} of them repeated; people ${did(/^(member|session)\./)}, projects and keys ${did(/^(project|key)\./)}, ` +
      `pages of the audit ${did(/^audit\.events/)}, traces ${did(/^audit\.trace/)}`,
    `recovery: first success ${spread(first)} (${slowest}); ${delayed.count} delayed operations ${spread(delayed)}; 503s slower than 5 s: ${refusals.slow} of ${refusals.all}${late}`,
    `kills ${faults.length} writes ${writes} lost ${count("lost")} doubled ${count("doubled")} stuck ${count("stuck")} different ${count("different")}`,
  ].join("\n");
}
