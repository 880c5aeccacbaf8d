import { useCallback, useState } from "react";
import { checkSource, readDeclarations, type ScriptType } from "../../api/build.ts";
import { readMembers } from "../../editor/complete.ts";
import type { Fault } from "../../editor/Editor.tsx";
import { useLeaveQuestion } from "../../parts/useUnsaved.ts";

let members: ReturnType<typeof loadMembers> | undefined;
const loadMembers = async () => readMembers(await readDeclarations());
/** Read once: the types belong to the service's version. */
const readOnce = () => (members ??= loadMembers());

/** A source that is being written: what is wrong with it, and a question before it is lost. */
export function useSource(type: ScriptType, saved: string) {
  const [source, setSource] = useState(saved);
  const [faults, setFaults] = useState<Fault[]>([]);
  const isChanged = source !== saved;
  useLeaveQuestion(() => isChanged);
  const check = useCallback(
    async (text: string) => {
      const found = await checkSource(type, text);
      setFaults(found);
      return found;
    },
    [type],
  );
  return { source, setSource, faults, check, members: readOnce, isChanged };
}
