import { useNavigate, useRouter, type RegisteredRouter, type UseNavigateResult } from "@tanstack/react-router";

/** Whether another screen is loading while this one is still shown. */
const isLeaving = ({ latestLocation, state }: RegisteredRouter): boolean =>
  state.resolvedLocation !== undefined && state.resolvedLocation.pathname !== latestLocation.pathname;

/** Writes a filter into the address, unless the person has left the screen, because that would navigate back. */
export function useFilterNavigate(): UseNavigateResult<string> {
  const navigate = useNavigate();
  const router = useRouter();
  return (options) => (isLeaving(router) ? Promise.resolve() : navigate(options));
}
