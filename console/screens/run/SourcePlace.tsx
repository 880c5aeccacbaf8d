import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Run } from "../../api/run.ts";
import type { ErrorPlace } from "../../api/types.ts";
import { useRole } from "../../api/useRole.ts";
import { versionsOfDefinition } from "../../api/versions.ts";

type RunCode = Pick<Run, "definition_id" | "definition_version">;

/** The position of a failure, with the source line for builders, who alone may read it. The link opens that line. */
export function SourcePlace({ run, place }: { run: RunCode; place: ErrorPlace }) {
  const { isBuilder } = useRole();
  const { line, column } = place;
  const { definition_id: definitionId, definition_version: version } = run;
  const hasLine = line !== null && line !== undefined;
  const versions = versionsOfDefinition(definitionId);
  const enabled = isBuilder && hasLine;
  const { data: newest } = useQuery({ ...versions.newest, enabled });
  const { data: ran } = useQuery({ ...versions.one(version), enabled });
  if (!hasLine) return null;
  const text = `line ${line}${column ? `, column ${column}` : ""}`;
  if (!isBuilder) return <p className="quiet mono">{text}</p>;
  const code = ran?.source.split("\n")[line - 1]?.trim();
  const isNewest = newest === undefined || newest.total === version;
  return (
    <p className="quiet mono">
      <Link
        to="/definitions/$definitionId"
        params={{ definitionId }}
        search={isNewest ? { line } : { view: "versions", version }}
      >
        {text}
      </Link>{" "}
      {code && <code>{code}</code>}
    </p>
  );
}
