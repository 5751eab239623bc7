#!/bin/bash
# User data of Spot instances with the ECS-optimized AMI. With the notice that comes two minutes
# before the end, ECS sets the instance to DRAINING and stops its tasks with SIGTERM.
cat <<'CONFIG' >> /etc/ecs/ecs.config
ECS_CLUSTER=duetime
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
ECS_CONTAINER_STOP_TIMEOUT=115s
CONFIG
