import { withService, type Service, type ServiceOptions } from "../service.ts";

/** Runs an administrator's work on personal data. Throws CliError. */
export const withPrivacy = <T>(options: ServiceOptions, work: (service: Service) => Promise<T>): Promise<T> =>
  withService(options, { action: "export or erase what somebody has", roles: "an admin or an owner" }, work);
