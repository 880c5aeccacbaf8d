import type { OperationKind } from "../journal.ts";
import { randomFrom, type Random } from "../random.ts";
import type { VersionName } from "../versions/versions.ts";
import type { RewoundModel } from "./rewind.ts";
import { ROLES, pickSurrounding, type Family, type RoleName, type Surrounding } from "./surroundings.ts";

/** Failpoints at which a process can be made to exit, and the roles that reach them. */
const POINTS = {
  "after-blob-rename": "http",
  "before-TurnStarted": "services",
  "after-TurnStarted": "services",
  "before-TurnCompleted": "services",
  "after-TurnCompleted": "services",
  "before-RoundRequested": "services",
  "after-RoundRequested": "services",
  "before-ToolFinished": "services",
  "after-ToolFinished": "services",
  "after-FileUploaded": "services",
  "after-ThreadDeleted": "services",
  "after-KeyChanged": "services",
  "after-DocumentUploaded": "services",
  "after-text-blobs": "services",
  "after-DocumentRead": "services",
  "after-passages-put": "services",
  "after-indexed": "services",
  "after-DocumentDeleted": "services",
  "after-ExtractionCompleted": "services",
  "after-RunCreated": "services",
  "after-RunStarted": "services",
  "before-StepsScheduled": "services",
  "after-StepsScheduled": "services",
  "before-StepCompleted": "services",
  "after-StepCompleted": "services",
  "after-step": "services",
  "after-StepAttemptFailed": "services",
  "after-TimerFired": "services",
  "after-RunTaken": "services",
  "after-ApprovalDecided": "services",
  "after-RunCompleted": "services",
  "after-ChildRunRequested": "services",
  "after-ChildRunStarted": "services",
  "after-RunWatched": "services",
  "after-WaitAnswered": "services",
  "after-RunSettled": "services",
  "after-MessagePosted": "services",
  "before-MessageDelivered": "services",
  "after-ApprovalVoted": "services",
  "after-ToolApprovalRequested": "services",
  "after-ToolApprovalDecided": "services",
  "after-ToolStarted": "services",
  "after-RunCancelled": "services",
  "after-UserRegistered": "services",
  "after-UserChanged": "services",
  "after-ProjectCreated": "services",
  "after-projected": "projections",
  "after-reaction-published": "services",
  "after-feed-published": "services",
} as const;
export type Point = keyof typeof POINTS;

/**
 * `version`: both processes of a role are replaced by those of another version, one after the other. `crash`: PostgreSQL is killed
 * at the moment of an acknowledgement; `loses`: the read model that loses its newest rows, and catches up only 3 s after the
 * restart.
 */
export type Fault =
  | { what: "kill"; role: RoleName; n: number }
  | { what: "kill"; role: "nats" | "postgres" | "meilisearch" }
  | { what: "crash"; role: "postgres"; after: OperationKind; loses?: RewoundModel }
  | { what: "version"; role: RoleName; to: VersionName }
  | { what: "backend"; nth: number }
  | { what: "index" }
  | { what: "feed" }
  | { what: "runner"; nth: number }
  | { what: "point"; role: RoleName; n: number; point: Point; passes: number }
  | Surrounding;

export interface PlannedFault {
  /** Milliseconds after the previous fault. */
  pause: number;
  fault: Fault;
}

const KINDS = {
  http: 18,
  services: 18,
  projections: 12,
  nats: 10,
  postgres: 7,
  backend: 7,
  index: 2,
  runner: 6,
  feed: 5,
  meilisearch: 3,
  stop: 8,
  point: 24,
};

function pickFault(random: Random): Fault {
  const kind = random.weighted(KINDS);
  const n = random.int(1, 2);
  switch (kind) {
    case "http":
    case "services":
    case "projections":
      return { what: "kill", role: kind, n };
    case "nats":
    case "postgres":
    case "meilisearch":
      return { what: "kill", role: kind };
    case "index":
    case "feed":
      return { what: kind };
    case "runner":
      return { what: "runner", nth: random.int(0, 1_000) };
    case "backend":
      return { what: "backend", nth: random.int(0, 1_000) };
    case "stop":
      // a lease expires after 10 s
      return { what: "stop", role: random.pick(ROLES), n, ms: random.int(12_000, 15_000) };
    case "point": {
      const point = random.pick(Object.keys(POINTS) as Point[]);
      return { what: "point", role: POINTS[point], n, point, passes: random.int(1, 4) };
    }
  }
}

/** Takes the given families in turn, in an order determined by the seed. */
function takeTurns(seed: number, families: readonly Family[]): () => Family {
  const random = randomFrom(seed, "families");
  let left: Family[] = [];
  return () => {
    if (left.length === 0) left = random.some(families, families.length);
    return left.pop()!;
  };
}

/**
 * The faults of a run. If any families, or faults in `needed`, are given, every second fault is one of them. Order and kinds depend
 * only on the arguments.
 */
export function planFaults(
  seed: number,
  kills: number,
  families: readonly Family[] = [],
  needed: readonly Fault[] = [],
): PlannedFault[] {
  const random = randomFrom(seed, "faults");
  const around = randomFrom(seed, "surroundings");
  const nextFamily = takeTurns(seed, families);
  return Array.from({ length: kills }, (_, n) => {
    const planned = { pause: random.int(500, 6_500), fault: pickFault(random) };
    if (n % 2 !== 0) return planned;
    if (needed.length > 0) return { ...planned, fault: needed[(n / 2) % needed.length]! };
    return families.length > 0 ? { ...planned, fault: pickSurrounding(around, nextFamily()) } : planned;
  });
}
