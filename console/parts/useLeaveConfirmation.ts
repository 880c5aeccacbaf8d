import { useBlocker } from "@tanstack/react-router";
import { useCallback, useRef } from "react";

/** The question before typed text is lost. */
const ABOUT_WORDS = "Leave the page? What you wrote is not saved.";

/** Parameters that select the form on a screen. Other parameters filter the content beside it. */
const FORMS = ["section", "view", "edit", "step"] as const;

interface Place {
  pathname: string;
  search: object;
}

const formsOf = ({ pathname, search }: Place): string =>
  JSON.stringify([pathname, ...FORMS.map((name) => (search as Record<string, unknown>)[name])]);

/** Asks before the page is left or reloaded while `wouldLose` reports unsaved or running work. */
export const useLeaveConfirmation = (wouldLose: () => boolean, question = ABOUT_WORDS): void =>
  useBlocker({
    shouldBlockFn: ({ current, next }) =>
      wouldLose() && formsOf(current) !== formsOf(next) && !window.confirm(question),
    enableBeforeUnload: wouldLose,
  });

/** The same for a form: `set` reports whether it has unsent text. */
export function useUnsavedWarning(): { set(isUnsaved: boolean): void } {
  const isUnsaved = useRef(false);
  useLeaveConfirmation(() => isUnsaved.current);
  const set = useCallback((value: boolean) => {
    isUnsaved.current = value;
  }, []);
  return { set };
}
