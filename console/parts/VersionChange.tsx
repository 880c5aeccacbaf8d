import { formatExact } from "../format/index.ts";
import { type Choice } from "./Choices.tsx";
import { CodeEditor } from "./CodeEditor.tsx";
import { SelectFilter } from "./Filter.tsx";

interface Version {
  version: number;
  created_at: string;
}

/** The choices of versions, with their times. */
export const versionChoices = (versions: readonly Version[]): Choice[] =>
  versions.map(({ version, created_at }) => ({
    value: String(version),
    label: `${version}, ${formatExact(created_at)}`,
  }));

interface FilterProps {
  versions: readonly Version[];
  shown: Version;
  onPick(version: number): void;
}

/** Picks the version that is shown. */
export const VersionFilter = ({ versions, shown, onPick }: FilterProps) => (
  <SelectFilter
    label="Version"
    isRequired
    isFirst
    value={String(shown.version)}
    choices={versionChoices(versions)}
    onPick={(value) => onPick(Number(value))}
  />
);

interface Props<V extends Version> {
  shown: V;
  /** The version that it is compared with; none for the first. */
  before: V | undefined;
  textOf: (version: V) => string;
  isProse?: boolean;
}

/** What a version changed of another one. */
export const VersionChange = <V extends Version>({ shown, before, textOf, isProse }: Props<V>) => (
  <>
    <p className="quiet">
      {before
        ? `What version ${shown.version} has and version ${before.version} has not is green; what it lost is red.`
        : "The first version, as it was saved."}
    </p>
    <CodeEditor
      key={`${shown.version} ${before?.version}`}
      label={`Version ${shown.version}`}
      isProse={isProse}
      text={textOf(shown)}
      original={textOf(before ?? shown)}
    />
  </>
);
