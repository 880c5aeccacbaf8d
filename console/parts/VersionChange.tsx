import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Page } from "../api/types.ts";
import type { Version, Versions } from "../api/versions.ts";
import { CodeEditor } from "./CodeEditor.tsx";
import { SelectFilter } from "./Filter.tsx";
import { EmptyState, QueryResult } from "./Notices.tsx";
import { describeVersion, versionChoices } from "./versionWords.ts";

interface FilterProps {
  versions: Page<Version>;
  shown: number;
  onPick(version: number): void;
}

/** Selects the version to show, from all versions. */
export const VersionFilter = ({ versions, shown, onPick }: FilterProps) => (
  <SelectFilter
    label="Version"
    isRequired
    isFirst
    value={String(shown)}
    choices={versionChoices(versions)}
    onPick={(value) => onPick(Number(value))}
  />
);

interface ChangeProps<V extends Version> {
  shown: V;
  before: V | null;
  textOf: (version: V) => string;
  isProse?: boolean | undefined;
}

const Change = <V extends Version>({ shown, before, textOf, isProse }: ChangeProps<V>) => (
  <>
    <p className="quiet">{describeVersion(shown, before)}</p>
    <CodeEditor
      key={`${shown.version} ${before?.version}`}
      label={`Version ${shown.version}`}
      isProse={isProse}
      text={textOf(shown)}
      original={textOf(before ?? shown)}
    />
  </>
);

interface Props<V extends Version> extends Pick<ChangeProps<V>, "textOf" | "isProse"> {
  versions: Versions<V>;
  version: number;
  /** The version to compare with: the previous one by default. */
  against?: number | undefined;
  /** The actions on the version. */
  children: (shown: V) => ReactNode;
}

/** The differences between a version and another one. */
export function VersionChange<V extends Version>({ versions, version, against, children, ...rest }: Props<V>) {
  const shown = useQuery(versions.one(version));
  const before = useQuery(versions.one(against ?? version - 1));
  return (
    <QueryResult query={shown} what="the version">
      {(found) =>
        found === null ? (
          <EmptyState title={`There is no version ${version}`}>
            <p>Choose another one.</p>
          </EmptyState>
        ) : (
          <>
            {children(found)}
            <QueryResult query={before} what="the version before it">
              {(earlier) => <Change shown={found} before={earlier} {...rest} />}
            </QueryResult>
          </>
        )
      }
    </QueryResult>
  );
}
