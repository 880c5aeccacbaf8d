import type { FormEvent } from "react";
import { EVENT_TYPES } from "../../format/describeEvent.ts";
import { wordChoices } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { SelectFilter } from "../../parts/Filter.tsx";
import { Filters as Fold } from "../../parts/Filters.tsx";
import { formText } from "../../parts/formText.ts";
import { useFilterNavigate } from "../../parts/useFilterNavigate.ts";
import { PrincipalFilter } from "../../parts/PrincipalFilter.tsx";
import type { LogSearch } from "./search.ts";

const TYPES = wordChoices(EVENT_TYPES);

interface NameProps {
  label: string;
  value: string | undefined;
  placeholder: string;
  isFirst?: boolean;
  onPick(value?: string): void;
}

/** A filter that applies when Enter is pressed, because a half-typed name would only cause an error. */
function NameFilter({ label, value, placeholder, isFirst, onPick }: NameProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    onPick(formText(new FormData(event.currentTarget), "name").trim() || undefined);
  };
  return (
    <form onSubmit={submit}>
      <FormField label={label}>
        <input
          key={value}
          name="name"
          type="search"
          defaultValue={value}
          placeholder={placeholder}
          data-filter={isFirst}
        />
      </FormField>
    </form>
  );
}

/** The filters of the log, which are part of the address. */
export function Filters({ search }: { search: LogSearch }) {
  const { stream, type, who, command, follow } = search;
  const navigate = useFilterNavigate();
  const change = (part: LogSearch) =>
    void navigate({ to: "/log", replace: true, search: { stream, type, who, command, follow, ...part } });
  return (
    <Fold className="log-filters" values={[stream, type, who, command, follow]}>
      <NameFilter
        label="Stream"
        value={stream}
        placeholder="run-0198… and Enter"
        isFirst
        onPick={(picked) => change({ stream: picked })}
      />
      <PrincipalFilter label="Caused by" value={who} onPick={(picked) => change({ who: picked })} />
      <SelectFilter label="Type" value={type} choices={TYPES} onPick={(picked) => change({ type: picked })} />
      <NameFilter
        label="Command"
        value={command}
        placeholder="its id and Enter"
        onPick={(picked) => change({ command: picked })}
      />
      <label className="check">
        <input
          type="checkbox"
          checked={follow ?? false}
          onChange={({ target }) => change({ follow: target.checked || undefined })}
        />{" "}
        Follow live
      </label>
    </Fold>
  );
}
