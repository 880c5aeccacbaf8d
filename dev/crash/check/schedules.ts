import type { RecordedEvent } from "#events/envelope.ts";
import { scheduledRunId } from "#events/schedule.ts";
import { grouped, type Evidence } from "./evidence.ts";
import { different, doubled, lost, stuck, type Finding } from "./finding.ts";

/** A due time, and the next one. */
interface Decision {
  due_at: string;
  next: string | null;
  /** False for missed due times. */
  isFired: boolean;
}

type Events = RecordedEvent<any>[];

const SETS_NEXT = new Set(["ScheduleCreated", "ScheduleChanged", "ScheduleResumed"]);

/** The decisions of a schedule, with the due time that was expected for each. */
function decisionsOf(events: Events): { expected: string | null; decision: Decision }[] {
  let expected: string | null = null;
  const decisions: { expected: string | null; decision: Decision }[] = [];
  for (const { type, data } of events) {
    const next = data.next?.due_at ?? null;
    if (type === "ScheduleFired" || type === "ScheduleTimesMissed") {
      const isFired = type === "ScheduleFired";
      const due_at = isFired ? data.due_at : data.first_due_at;
      decisions.push({ expected, decision: { due_at, next, isFired } });
      expected = next;
    } else if (SETS_NEXT.has(type)) expected = next;
  }
  return decisions;
}

/** Due times whose run is decided, and those that still wait for the previous run. A pause drops all that wait. */
function startsOf(events: Events): { starts: string[]; waiting: string[] } {
  const starts: string[] = [];
  let waiting: string[] = [];
  for (const { type, data } of events) {
    if (type === "ScheduleFired" && data.action === "start") starts.push(data.due_at);
    if (type === "ScheduleFired" && data.action === "queue") waiting.push(data.due_at);
    if (type === "ScheduleDequeued") {
      starts.push(data.due_at);
      waiting = waiting.filter((due_at) => due_at !== data.due_at);
    }
    if (type === "SchedulePaused") waiting = [];
  }
  return { starts, waiting };
}

function checkRuns(trigger_id: string, events: Events, runs: Map<string, Events>): Finding[] {
  const about = `schedule ${trigger_id}`;
  const { starts, waiting } = startsOf(events);
  const refused = new Set(events.filter(({ type }) => type === "ScheduledRunRefused").map(({ data }) => data.due_at));
  return [
    ...starts.flatMap((due_at): Finding[] => {
      const count = runs.get(scheduledRunId(trigger_id, due_at))?.length ?? 0;
      if (count > 1) return [doubled("I19", about, `${count} runs of ${due_at}`)];
      return count === 1 || refused.has(due_at) ? [] : [lost("I19", about, `no run of ${due_at}`)];
    }),
    ...[...grouped(starts, (due_at) => due_at)]
      .filter(([, same]) => same.length > 1)
      .map(([due_at, same]) => doubled("I19", about, `${due_at} was decided ${same.length} times`)),
    ...waiting.map((due_at) => stuck("I19", about, `${due_at} waits for the run before`)),
  ];
}

function checkSchedule(trigger_id: string, events: Events, runs: Map<string, Events>): Finding[] {
  const about = `schedule ${trigger_id}`;
  const every: number | undefined = events[0]!.data.rule.every;
  return [
    ...decisionsOf(events).flatMap(({ expected, decision: { due_at, next, isFired } }): Finding[] => {
      if (due_at !== expected) return [different("I19", about, `${due_at} was decided, ${expected} was due`)];
      const isGap = isFired && every !== undefined && next !== null;
      return isGap && Date.parse(next) - Date.parse(due_at) !== every * 1_000
        ? [lost("I19", about, `no time is between ${due_at} and ${next}`)]
        : [];
    }),
    ...checkRuns(trigger_id, events, runs),
  ];
}

/** I19: each due time of a schedule is decided once, in order and without gaps, and starts at most one run; exactly one if that was decided. */
export function checkSchedules({ events }: Pick<Evidence, "events">): Finding[] {
  const created = grouped(
    (events as Events).filter(({ type }) => type === "RunCreated"),
    ({ data }) => data.run_id,
  );
  const triggers = grouped(
    (events as Events).filter(({ stream }) => stream.startsWith("trigger-")),
    ({ stream }) => stream,
  );
  return [...triggers.values()]
    .filter(([first]) => first!.type === "ScheduleCreated")
    .flatMap((own) => checkSchedule(own[0]!.data.trigger_id, own, created));
}
