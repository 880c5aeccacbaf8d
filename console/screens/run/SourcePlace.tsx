import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listDefinitionVersions } from "../../api/build.ts";
import type { Run } from "../../api/run.ts";
import type { ErrorPlace } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";

type RunCode = Pick<Run, "definition_id" | "definition_version">;

/** The line of the version that the run executes. Only builders may read sources. */
function SourceLine({ run, line }: { run: RunCode; line: number }) {
  const { data } = useQuery(listDefinitionVersions(run.definition_id));
  const source = data?.find(({ version }) => version === run.definition_version)?.source;
  const text = source?.split("\n")[line - 1]?.trim();
  return text ? <code>{text}</code> : null;
}

/** Where the code failed, with the line of its source. */
export function SourcePlace({ run, place }: { run: RunCode; place: ErrorPlace }) {
  const { isBuilder } = useRole();
  const { line, column } = place;
  if (line === null || line === undefined) return null;
  const text = `line ${line}${column ? `, column ${column}` : ""}`;
  if (!isBuilder) return <p className="quiet mono">{text}</p>;
  return (
    <p className="quiet mono">
      <Link to="/definitions/$definitionId" params={{ definitionId: run.definition_id }}>
        {text}
      </Link>{" "}
      <SourceLine run={run} line={line} />
    </p>
  );
}
