// The version in package.json, put in when dist/ is built.

declare const PGTAIL_VERSION: string | undefined;

export const VERSION = typeof PGTAIL_VERSION === 'string' ? PGTAIL_VERSION : 'development';
