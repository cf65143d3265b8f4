"""The task families of the service desk and the inventory; `rebind.envs.sites.families` says how to write one."""
