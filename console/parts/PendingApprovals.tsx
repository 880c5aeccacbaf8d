import { Link } from "@tanstack/react-router";
import type { Trace } from "../api/trace.ts";

/** The approvals that a request waits for, each as a link. */
export function PendingApprovals({ trace }: { trace: Pick<Trace, "rounds" | "status"> | undefined }) {
  if (trace?.status !== "running") return null;
  const waiting = trace.rounds.flatMap(({ calls }) =>
    calls.flatMap(({ name, approval }) => (approval?.status === "pending" ? [{ name, id: approval.id }] : [])),
  );
  if (waiting.length === 0) return null;
  return (
    <p className="notice warn" role="status">
      Waits for a person:{" "}
      {waiting.map(({ name, id }, n) => (
        <span key={id}>
          {n > 0 && ", "}
          <Link to="/inbox/$approvalId" params={{ approvalId: id }}>
            may {name} run?
          </Link>
        </span>
      ))}
    </p>
  );
}
