import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { countFailures, type FailedModel } from "../../api/home.ts";
import { startOfDay } from "../../format/days.ts";
import { formatCount, formatNumber } from "../../format/index.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { ModelName } from "../../parts/ModelName.tsx";

const SHOWN = 5;

const Row = ({ failures: { model, failed, refused }, day }: { failures: FailedModel; day: string }) => (
  <li>
    <Link to="/requests" search={{ model, status: failed > 0 ? "failed" : "refused", from: day }} data-row>
      <ModelName name={model} />
    </Link>{" "}
    <span className="quiet">
      {[failed > 0 && `${formatNumber(failed)} failed`, refused > 0 && `${formatNumber(refused)} refused`]
        .filter(Boolean)
        .join(", ")}
    </span>
  </li>
);

/** The models that failed today, most failures first. */
export function FailedRequests({ day }: { day: string }) {
  const failures = useQuery(countFailures(startOfDay(day)!));
  return (
    <section className="card panel" aria-labelledby="failed-requests">
      <h2 id="failed-requests">Failed today, by model</h2>
      <QueryResult query={failures} what="failed requests">
        {({ models, isWhole }) =>
          models.length === 0 ? (
            <p className="quiet">No request to a model has failed today.</p>
          ) : (
            <>
              <ul className="plain stack">
                {models.slice(0, SHOWN).map((one) => (
                  <Row key={one.model} failures={one} day={day} />
                ))}
              </ul>
              <p className="quiet">
                {isWhole
                  ? `${formatCount(models.length, "model")}. Refused requests got no answer and were not stored.`
                  : "Counted among the newest 100,000 requests of today."}
              </p>
            </>
          )
        }
      </QueryResult>
    </section>
  );
}
