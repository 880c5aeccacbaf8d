import { randomFrom, type Random } from "../random.ts";

/** Points at which a process can be made to end itself, and who comes by there. */
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
  "after-RunCancelled": "services",
  "after-UserRegistered": "services",
  "after-UserChanged": "services",
  "after-ProjectCreated": "services",
  "after-projected": "projections",
  "after-reaction-published": "services",
  "after-feed-published": "services",
} as const;
export type Point = keyof typeof POINTS;

export type Blow =
  | { what: "kill"; role: "http" | "services" | "projections"; n: number }
  | { what: "kill"; role: "nats" | "postgres" | "meilisearch" }
  | { what: "backend"; nth: number }
  | { what: "index" }
  | { what: "feed" }
  | { what: "runner"; nth: number }
  | { what: "stop"; role: "http" | "services" | "projections"; n: number; ms: number }
  | { what: "point"; role: "http" | "services" | "projections"; n: number; point: Point; passes: number };

export interface Planned {
  /** After the blow before, in milliseconds. */
  pause: number;
  blow: Blow;
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

const ROLES = ["http", "services", "projections"] as const;

function blowOf(random: Random): Blow {
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
      // a lease is lost after 10 s
      return { what: "stop", role: random.pick(ROLES), n, ms: random.int(12_000, 15_000) };
    case "point": {
      const point = random.pick(Object.keys(POINTS) as Point[]);
      return { what: "point", role: POINTS[point], n, point, passes: random.int(1, 4) };
    }
  }
}

/** The blows of a run. Their order and kinds follow from the seed alone. */
export function planFaults(seed: number, kills: number): Planned[] {
  const random = randomFrom(seed, "faults");
  return Array.from({ length: kills }, () => ({ pause: random.int(500, 6_500), blow: blowOf(random) }));
}
