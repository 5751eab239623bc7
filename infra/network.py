"""The networks in which executors and workers run."""

from typing import Any

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from infra.policies import acknowledge
from infra.setting_models import Vpc

ZONES = 2  # over which workers are spread: Spot capacity of one may run out


def given_network(scope: Construct, vpc: Vpc) -> dict[str, Any]:
    """Returns the options of a function or a service that runs in subnets of yours."""
    network = ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id=vpc.id, availability_zones=["any"], private_subnet_ids=vpc.subnets[:1]
    )
    subnets = [
        ec2.Subnet.from_subnet_id(scope, f"Subnet{n}", subnet)
        for n, subnet in enumerate(vpc.subnets)
    ]
    groups = [
        ec2.SecurityGroup.from_security_group_id(scope, f"Group{n}", group)
        for n, group in enumerate(vpc.security_groups)
    ]
    return {
        "vpc": network,
        "vpc_subnets": ec2.SubnetSelection(subnets=subnets),
        "security_groups": groups or None,
    }


class PublicNetwork(Construct):
    """Public subnets and an internet gateway, which cost nothing. There is no NAT gateway, which
    would cost more each month than a small worker that always runs; instead each worker has a
    public address while it runs, and a security group that lets nothing in."""

    def __init__(self, scope: Construct, name: str) -> None:
        super().__init__(scope, name)
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=ZONES,
            nat_gateways=0,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="Public",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    map_public_ip_on_launch=False,  # a worker asks for its address itself
                )
            ],
            restrict_default_security_group=False,  # it is not used, and this takes a function
        )
        acknowledge(self.vpc, "VPC7", "Flow logs cost more than the network; nothing listens here.")
