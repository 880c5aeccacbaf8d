import { useCallback, useRef, useState } from "react";
import { checkSource, checkTypes, readDeclarations, type ScriptType } from "../../api/build.ts";
import { readMembers } from "../../editor/complete.ts";
import type { Problem } from "../../editor/Editor.tsx";
import { useLeaveConfirmation } from "../../parts/useLeaveConfirmation.ts";

let members: ReturnType<typeof loadMembers> | undefined;
const loadMembers = async () => readMembers(await readDeclarations());
/** Loaded once, because the types belong to the service's version. */
const readOnce = () => (members ??= loadMembers());

/** The service's result for a source. */
export interface SourceCheck {
  problems: Problem[];
  /** A sentence about a check that is running, or why it did not run. */
  about_types: string | null;
}

const NOT_CHECKED = "The source could not be checked. The next change checks it again.";

const unchecked = () => ({
  problems: [],
  unchecked: "The types could not be checked; they are after the next change.",
});

/** The edited source: its errors, and a question before it is lost. */
export function useSource(type: ScriptType, saved: string) {
  const [source, setSource] = useState(saved);
  const [checked, setChecked] = useState<SourceCheck>({ problems: [], about_types: "The source is being checked …" });
  const newest = useRef(saved);
  const isChanged = source !== saved;
  useLeaveConfirmation(() => isChanged);
  const check = useCallback(
    async (text: string) => {
      newest.current = text;
      // a result for an outdated text is not shown
      const show = (now: SourceCheck) => newest.current === text && setChecked(now);
      const problems = await checkSource(type, text).catch(() => undefined);
      if (!problems) {
        show({ problems: [], about_types: NOT_CHECKED });
        return [];
      }
      const isRefused = text.trim() === "" || problems.some(({ severity }) => severity === "error");
      show({ problems, about_types: isRefused ? null : "The types are being checked …" });
      if (isRefused || newest.current !== text) return problems;
      const types = await checkTypes(type, text).catch(unchecked);
      const all = [...problems, ...types.problems].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
      show({ problems: all, about_types: types.unchecked });
      return all;
    },
    [type],
  );
  return { source, setSource, checked, check, members: readOnce, isChanged };
}
