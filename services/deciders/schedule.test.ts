import { describe, expect, test } from "vitest";
import type { NewEvent } from "#events/define.ts";
import {
  ScheduleChanged,
  ScheduleCreated,
  ScheduleDequeued,
  ScheduledRunRefused,
  ScheduledRunStarted,
  ScheduleFired,
  scheduledRunId,
  SchedulePaused,
  ScheduleResumed,
  ScheduleTaken,
  ScheduleTimesMissed,
} from "#events/schedule.ts";
import { jitter } from "#events/scheduleTimes.ts";
import { TriggerCreated, TriggerDeleted, TriggerDisabled } from "#events/trigger.ts";
import { command, given } from "#test/given.ts";
import { MAX_MISSED, MAX_QUEUED } from "./schedule.ts";
import { trigger } from "./trigger.ts";

const trigger_id = "t1";
const HOUR = "2026-01-01T";
const hour = (n: number, minute = "00") => `2026-01-01T${String(n).padStart(2, "0")}:${minute}:00.000Z`;
const due = (at: string | null) => at && { due_at: at, fires_at: at };
const rule = { cron: "0 * * * *", time_zone: "UTC" };
const settings = { rule, jitter_seconds: 0, overlap: "skip" as const, missed: "one" as const };
const owner = { trigger_id, workflow_id: "w1", run_as: null };
const personal = { name: "hourly", args: "{}" };
type Settings = Partial<Omit<typeof settings, "overlap" | "missed">> & { overlap?: string; missed?: string };
/** Created at five past midnight, so first due at one o'clock. */
const created = (more: Settings = {}, next: any = due(hour(1))) =>
  ScheduleCreated.of({ ...owner, ...settings, ...more, next } as any, personal);
const fired = (at: string, action: "start" | "queue" | "skip", next: string | null, more: object = {}) =>
  ScheduleFired.of({
    trigger_id,
    due_at: at,
    action,
    cancels: null,
    next: due(next),
    epoch: 1,
    worker: "p1",
    ...more,
  } as any);
const started = (at: string) =>
  ScheduledRunStarted.of({ trigger_id, due_at: at, run_id: scheduledRunId(trigger_id, at) });
const missed = (first_due_at: string, next: string | null) =>
  ScheduleTimesMissed.of({ trigger_id, first_due_at, next: due(next) } as any);
const fire = (due_at: string, at = due_at, overlaps = false, more: object = {}) =>
  command("FireSchedule", { trigger_id, due_at, overlaps, ...more }, { at, worker: "p1" });
const change = (data: object, at = hour(0, "30")) => command("ChangeSchedule", { trigger_id, ...data }, { at });
const work = (...events: NewEvent[]) => trigger.workStatus!(given(trigger, events).state);

describe("a new schedule", () => {
  const create = (more: object = {}) =>
    command("CreateSchedule", { ...owner, ...settings, ...personal, ...more }, { at: hour(0, "05") });
  test("is due next by its rule", () => {
    given(trigger).when(create()).then(created());
    given(trigger)
      .when(create({ rule: { every: 600 } }))
      .then(created({ rule: { every: 600, from: hour(0, "05") } as any }, due(hour(0, "15"))));
    given(trigger)
      .when(create({ rule: { at: hour(0, "04") } }))
      .rejected("invalid_schedule");
    given(trigger)
      .when(create({ rule: { cron: "0 0 31 2 *", time_zone: "UTC" } }))
      .rejected("invalid_schedule");
    given(trigger, [created()]).when(create()).rejected("trigger_exists");
    expect(work(created())).toEqual({ status: "waiting", due_at: hour(1), worker: null });
  });
});

describe("a due time", () => {
  test("decides a start, which is open until it is recorded", () => {
    given(trigger, [created()])
      .when(fire(hour(1)))
      .then(fired(hour(1), "start", hour(2)));
    expect(work(created(), fired(hour(1), "start", hour(2)))).toEqual({
      status: "starting",
      due_at: null,
      worker: "p1",
    });
    const record = (refusal: object | null) => command("RecordScheduledRun", { trigger_id, due_at: hour(1), refusal });
    const open = [created(), fired(hour(1), "start", hour(2))];
    given(trigger, open)
      .when(record(null))
      .then(started(hour(1)));
    given(trigger, open)
      .when(record({ code: "workflow_disabled", message: "No." }))
      .then(ScheduledRunRefused.of({ trigger_id, due_at: hour(1), code: "workflow_disabled" }, { message: "No." }));
    given(trigger, [...open, started(hour(1))])
      .when(record(null))
      .then();
    expect(work(...open, started(hour(1)))).toEqual({ status: "waiting", due_at: hour(2), worker: null });
  });

  test("fires once, and not before its time", () => {
    const after = [created(), fired(hour(1), "start", hour(2)), started(hour(1))];
    given(trigger, after)
      .when(fire(hour(1)))
      .then();
    given(trigger, [created()])
      .when(fire(hour(1), hour(0, "59")))
      .then();
    given(trigger, [created()])
      .when(fire(hour(2), hour(2)))
      .then();
    given(trigger, [created(), fired(hour(1), "start", hour(2))])
      .when(fire(hour(2)))
      .then();
  });

  test("that is decided for another version of the schedule does nothing", () => {
    const changed = ScheduleChanged.of(
      { trigger_id, ...settings, next: due(hour(1)) as any, changes_args: true },
      { args: '{"a":1}' },
    );
    const seen = (version: number) =>
      command("FireSchedule", { trigger_id, due_at: hour(1), overlaps: false, seen: version }, { at: hour(1) });
    given(trigger, [created(), changed]).when(seen(1)).then();
    given(trigger, [created(), changed])
      .when(seen(2))
      .then(fired(hour(1), "start", hour(2), { worker: null }));
  });

  test("with jitter fires later, and the next one follows the rule", () => {
    const at = { due_at: hour(1), fires_at: hour(1, "20") };
    const jittered = created({ jitter_seconds: 1_800 }, at);
    given(trigger, [jittered])
      .when(fire(hour(1), hour(1, "19")))
      .then();
    const [event] = trigger.decide(fire(hour(1), hour(1, "20")) as any, given(trigger, [jittered]).state);
    expect(event!.data).toMatchObject({ due_at: hour(1), next: { due_at: hour(2) } });
    expect((event as any).data.next.fires_at > hour(2)).toBe(true);
  });

  test("the last one ends the schedule's work", () => {
    const once = created({ rule: { at: hour(1) } as any });
    given(trigger, [once])
      .when(fire(hour(1)))
      .then(fired(hour(1), "start", null));
    expect(work(once, fired(hour(1), "start", null), started(hour(1)))).toMatchObject({ status: null, due_at: null });
  });
});

describe("while the run before is live, a due time", () => {
  const before = (overlap: string) => [created({ overlap }), fired(hour(1), "start", hour(2)), started(hour(1))];
  const second = { epoch: 2 };
  test("is skipped", () => {
    given(trigger, before("skip"))
      .when(fire(hour(2), hour(2), true))
      .then(fired(hour(2), "skip", hour(3), second));
  });
  test("cancels that run", () => {
    const cancels = scheduledRunId(trigger_id, hour(1));
    given(trigger, before("cancel"))
      .when(fire(hour(2), hour(2), true))
      .then(fired(hour(2), "start", hour(3), { ...second, cancels }));
  });
  test("waits in the queue, in order, until that run has ended", () => {
    const queued = [...before("queue"), fired(hour(2), "queue", hour(3), second)];
    given(trigger, before("queue"))
      .when(fire(hour(2), hour(2), true))
      .then(queued.at(-1)!);
    expect(work(...queued)).toEqual({ status: "queued", due_at: hour(3), worker: "p1" });
    // the process that holds the queue keeps it, and nothing overtakes
    given(trigger, queued)
      .when(fire(hour(3)))
      .then(fired(hour(3), "queue", hour(4), second));
    const next = (epoch: number, due_at = hour(2)) => command("StartQueuedRun", { trigger_id, epoch, due_at });
    const dequeued = ScheduleDequeued.of({ trigger_id, due_at: hour(2) });
    given(trigger, queued).when(next(2)).then(dequeued);
    given(trigger, queued).when(next(1)).then();
    given(trigger, queued)
      .when(next(2, hour(3)))
      .then();
    given(trigger, [...queued, dequeued])
      .when(next(2))
      .then();
    expect(work(...queued, dequeued)).toMatchObject({ status: "starting" });
    const taken = ScheduleTaken.of({ trigger_id, epoch: 3, worker: "p2" });
    given(trigger, queued)
      .when(command("TakeSchedule", { trigger_id, epoch: 2, worker: "p2" }))
      .then(taken);
    given(trigger, [...queued, taken])
      .when(command("TakeSchedule", { trigger_id, epoch: 2, worker: "p3" }))
      .then();
  });
  test("is skipped when the queue is full", () => {
    const queue = Array.from({ length: MAX_QUEUED }, (_, n) => fired(hour(n + 2), "queue", hour(n + 3), second));
    const at = hour(MAX_QUEUED + 2);
    given(trigger, [...before("queue"), ...queue])
      .when(fire(at, at, true))
      .then(fired(at, "skip", hour(MAX_QUEUED + 3), second));
  });
});

describe("after an outage", () => {
  const at = `${HOUR}05:30:00.000Z`;
  test("a time that is a little late is not missed", () => {
    given(trigger, [created({ missed: "none" })])
      .when(fire(hour(1), `${HOUR}01:00:59.000Z`))
      .then(fired(hour(1), "start", hour(2)));
  });
  test("one run starts for all times that were missed", () => {
    given(trigger, [created()])
      .when(fire(hour(1), at))
      .then(missed(hour(1), hour(5)), fired(hour(5), "start", hour(6)));
    given(trigger, [created()])
      .when(fire(hour(1), hour(1, "50")))
      .then(fired(hour(1), "start", hour(2)));
  });
  test("no run starts with missed: none", () => {
    given(trigger, [created({ missed: "none" })])
      .when(fire(hour(1), at))
      .then(missed(hour(1), hour(6)));
    given(trigger, [created({ missed: "none", rule: { at: hour(1) } as any })])
      .when(fire(hour(1), at))
      .then(missed(hour(1), null));
  });
  test("with missed: all, one run starts for each time, one after the other", () => {
    const all = created({ missed: "all" });
    given(trigger, [all])
      .when(fire(hour(1), at))
      .then(fired(hour(1), "start", hour(2)));
    const second = [all, fired(hour(1), "start", hour(2)), started(hour(1))];
    given(trigger, second)
      .when(fire(hour(2), at))
      .then(fired(hour(2), "start", hour(3), { epoch: 2 }));
  });
  test.each(["one", "all"])("no run makes up for a time at which a limit let none start, with missed: %s", (rule) => {
    given(trigger, [created({ missed: rule })])
      .when(fire(hour(1), at, false, { limited: true }))
      .then(missed(hour(1), hour(6)));
    given(trigger, [created({ missed: rule })])
      .when(fire(hour(1), `${HOUR}05:00:30.000Z`, false, { limited: true }))
      .then(missed(hour(1), hour(5)), fired(hour(5), "start", hour(6)));
  });
  test.each(["skip", "queue", "cancel"])(
    "with missed: all, each run waits for the runs before it, with the overlap rule %s",
    (overlap) => {
      const before = [created({ missed: "all", overlap }), fired(hour(1), "start", hour(2)), started(hour(1))];
      const queued = [2, 3, 4].map((n) => fired(hour(n), "queue", hour(n + 1), { epoch: 2 }));
      for (const n of [0, 1, 2])
        given(trigger, [...before, ...queued.slice(0, n)])
          .when(fire(hour(n + 2), at, true))
          .then(queued[n]!);
      // also in the moment between two runs
      given(trigger, [...before, queued[0]!])
        .when(fire(hour(3), at))
        .then(queued[1]!);
      expect(work(...before, ...queued)).toMatchObject({ status: "queued", worker: "p1" });
      given(trigger, [...before, ...queued])
        .when(command("StartQueuedRun", { trigger_id, epoch: 2, due_at: hour(2) }))
        .then(ScheduleDequeued.of({ trigger_id, due_at: hour(2) }));
    },
  );
  test("a time that is not missed follows the overlap rule, while others wait", () => {
    const waiting = (overlap: string) => [
      created({ missed: "all", overlap }),
      fired(hour(1), "start", hour(2)),
      started(hour(1)),
      fired(hour(2), "queue", hour(3), { epoch: 2 }),
    ];
    const then = (overlap: string, action: "start" | "queue" | "skip", more: object = {}) =>
      given(trigger, waiting(overlap))
        .when(fire(hour(3), hour(3), true))
        .then(fired(hour(3), action, hour(4), { epoch: 2, ...more }));
    then("skip", "skip");
    then("queue", "queue");
    then("cancel", "start", { cancels: scheduledRunId(trigger_id, hour(1)) });
    // in the moment between two runs the next one that waits comes first
    given(trigger, waiting("skip"))
      .when(fire(hour(3)))
      .then(fired(hour(3), "skip", hour(4), { epoch: 2 }));
  });
  test("at most the newest hundred start", () => {
    const month = "2026-02-01T00:30:00.000Z";
    const oldest = new Date(Date.parse("2026-02-01T00:00:00Z") - (MAX_MISSED - 1) * 3_600_000);
    const next = new Date(oldest.getTime() + 3_600_000).toISOString();
    given(trigger, [created({ missed: "all" })])
      .when(fire(hour(1), month))
      .then(missed(hour(1), oldest.toISOString()), fired(oldest.toISOString(), "start", next));
  });
});

describe("after an outage, a time that fires later by its jitter", () => {
  const jitter_seconds = 1_800;
  const jittered = (n: number) => {
    const time = new Date(hour(n));
    return {
      due_at: hour(n),
      fires_at: new Date(time.getTime() + jitter(trigger_id, time, jitter_seconds)).toISOString(),
    };
  };
  const schedule = (rule: string) => created({ jitter_seconds, missed: rule }, jittered(1));
  /** Two minutes past five: four o'clock has fired, five o'clock has not. */
  const back = hour(5, "02");
  const nexts = (rule: string) =>
    trigger
      .decide(fire(hour(1), back) as any, given(trigger, [schedule(rule)]).state)
      .map(({ type, data }: any) => [type, data.due_at ?? data.first_due_at, data.next]);
  test("is not missed", () => {
    expect(jittered(5).fires_at > back).toBe(true);
    expect(nexts("none")).toEqual([["ScheduleTimesMissed", hour(1), jittered(5)]]);
    expect(nexts("one")).toEqual([
      ["ScheduleTimesMissed", hour(1), jittered(4)],
      ["ScheduleFired", hour(4), jittered(5)],
    ]);
  });
  test("stays the next one when only the jitter changes", () => {
    const pending = [created({ jitter_seconds }, jittered(5))];
    const nextWith = (seconds: number, at: string, before = pending) =>
      (trigger.decide(change({ jitter_seconds: seconds }, at) as any, given(trigger, before).state)[0] as any).data
        .next;
    expect(nextWith(0, back)).toEqual({ due_at: hour(5), fires_at: back });
    const more = nextWith(3_600, back);
    expect(more.due_at).toBe(hour(5));
    expect(more.fires_at > jittered(5).fires_at).toBe(true);
    // a late time stays as it is
    expect(nextWith(0, hour(7))).toEqual({ due_at: hour(5), fires_at: jittered(5).fires_at });
  });
});

describe("a change", () => {
  const paused = SchedulePaused.of({ trigger_id });
  test("pauses and resumes: due times of the pause do not count as missed", () => {
    given(trigger, [created()])
      .when(change({ paused: true }))
      .then(paused);
    given(trigger, [created(), paused])
      .when(change({ paused: true }))
      .then();
    given(trigger, [created(), paused])
      .when(fire(hour(1)))
      .then();
    expect(work(created(), paused)).toMatchObject({ status: null, due_at: null });
    given(trigger, [created(), paused])
      .when(change({ paused: false }, hour(7, "30")))
      .then(ScheduleResumed.of({ trigger_id, next: due(hour(8)) as any }));
  });
  test("of the rule counts from now", () => {
    const changed = { trigger_id, ...settings, rule: { every: 60, from: hour(0, "30") }, changes_args: false };
    given(trigger, [created()])
      .when(change({ rule: { every: 60 } }))
      .then(ScheduleChanged.of({ ...changed, next: due(hour(0, "31")) as any }, {}));
    given(trigger, [created()])
      .when(change({ rule: { at: hour(0, "29") } }))
      .rejected("invalid_schedule");
  });
  test("of the arguments is remembered by the version of its event", () => {
    const words = { trigger_id, ...settings, next: due(hour(1)) as any, changes_args: true };
    const changed = ScheduleChanged.of(words, { args: '{"a":1}' });
    given(trigger, [created()])
      .when(change({ args: '{"a":1}' }))
      .then(changed);
    expect(given(trigger, [created(), paused, changed, paused]).state.schedule.args_version).toBe(3);
  });
  test("names who answers for the schedule, by the version of its event", () => {
    const resumed = ScheduleResumed.of({ trigger_id, next: due(hour(8)) as any });
    const setIn = (events: NewEvent[]) => given(trigger, events).state.schedule.set;
    expect(setIn([created(), paused])).toEqual({ version: 1, seen: 2 });
    expect(setIn([created(), paused, resumed, fired(hour(8), "skip", hour(9))])).toEqual({ version: 3, seen: 4 });
  });
  test("that a process of an earlier release has folded does not count as seen, until the next one", () => {
    const { state } = given(trigger, [created()]);
    const old = { ...state, schedule: { ...state.schedule, version: 2 } };
    const skipped = trigger.evolve(old, fired(hour(1), "skip", hour(2)));
    expect(skipped.schedule).toMatchObject({ version: 3, set: { version: 1, seen: 1 } });
    const resumed = ScheduleResumed.of({ trigger_id, next: due(hour(8)) as any });
    expect(trigger.evolve(old, resumed).schedule).toMatchObject({ set: { version: 3, seen: 3 } });
  });
  test("that changes nothing is no event", () => {
    given(trigger, [created()])
      .when(change({ rule, overlap: "skip", paused: false }))
      .then();
    const interval = { rule: { every: 3_600, from: hour(0) } as any };
    given(trigger, [created(interval)])
      .when(change({ rule: { every: 3_600 } }))
      .then();
    given(trigger, [created(interval)])
      .when(change({ rule: { every: 3_600 }, overlap: "queue" }))
      .then(
        ScheduleChanged.of(
          { trigger_id, ...settings, ...interval, overlap: "queue", next: due(hour(1)) as any, changes_args: false },
          {},
        ),
      );
  });
});

describe("the other kind of trigger", () => {
  const webhook = TriggerCreated.of(
    { trigger_id, secret_hash: "h1", secret_hint: "abcd", workflow_id: "w1", hook_token: "token", run_as: null },
    { name: "shop", default_args: "{}" },
  );
  test("has no schedule, and a schedule has no secret", () => {
    given(trigger, [webhook])
      .when(change({ paused: true }))
      .rejected("trigger_has_no_schedule");
    const rotate = command("RotateTrigger", { trigger_id, secret_hash: "h2", secret_hint: "efgh" });
    given(trigger, [created()]).when(rotate).rejected("trigger_has_no_secret");
  });
  test("ends the same way", () => {
    const disabled = TriggerDisabled.of({ trigger_id });
    const deleted = TriggerDeleted.of({ trigger_id });
    given(trigger, [created()]).when(command("DisableTrigger", { trigger_id })).then(disabled);
    given(trigger, [created()]).when(command("DeleteTrigger", { trigger_id })).then(deleted);
    given(trigger, [created(), disabled])
      .when(fire(hour(1)))
      .then();
    given(trigger, [created(), disabled])
      .when(change({ paused: true }))
      .rejected("trigger_disabled");
    const { state } = given(trigger, [created(), disabled]);
    expect(() => trigger.decide(change({ paused: true }) as any, state)).toThrow("create a new one");
    given(trigger, [created(), deleted])
      .when(change({ paused: true }))
      .rejected("trigger_not_found");
    expect(work(created(), disabled)).toEqual({ status: null, due_at: null, worker: null });
  });
});
