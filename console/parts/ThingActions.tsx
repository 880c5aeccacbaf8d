import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ActionButton } from "./ActionButton.tsx";
import { ErrorNotice } from "./Notices.tsx";

interface ThingAction {
  label: string;
  /** Asked before; nothing is asked without it. */
  question?: string | undefined;
  isDangerous?: boolean;
  run: () => Promise<unknown>;
}

interface Props {
  actions: readonly ThingAction[];
  /** The first word of the queries that are out of date afterwards. */
  kind: string;
}

/** What can be done with a thing, and why it failed. */
export function ThingActions({ actions, kind }: Props) {
  const queries = useQueryClient();
  const send = useMutation({
    mutationFn: ({ run }: ThingAction) => run(),
    onSettled: () => queries.invalidateQueries({ queryKey: [kind] }),
  });
  return (
    <>
      <p className="buttons">
        {actions.map(({ run, ...action }) => (
          <ActionButton
            key={action.label}
            {...action}
            action={{ ...send, mutate: () => send.mutate({ ...action, run }) }}
          />
        ))}
      </p>
      {send.isError && <ErrorNotice error={send.error} />}
    </>
  );
}
