"""Where the public regions of each cloud are: data only, read by regions.py.

Rows are parted by `|` or the end of a line. A row is a country (ISO 3166-1 alpha-2, `EU` for several
countries of the EU and no other, `-` for a spread over several countries that goes beyond the EU),
then the region ids that lie there. Only ids whose place is public knowledge are here; a region that
is missing is "not documented", which never lets a request in.
"""

from __future__ import annotations

# Ids that several providers use for a whole geography, in one meaning.
GEOGRAPHIES = """
EU eu europe
US us us-gov
-  global global-standard apac asia emea
"""

# The regions of each cloud, under the cloud's name here.
CLOUDS: dict[str, str] = {
    # au, ca, in and jp are geographies of Bedrock's inference profiles.
    "aws": """
US us-east-1 us-east-2 us-west-1 us-west-2 us-gov-east-1 us-gov-west-1
CA ca-central-1 ca-west-1 ca | MX mx-central-1 | BR sa-east-1 | IE eu-west-1 | GB eu-west-2
FR eu-west-3 | DE eu-central-1 eusc-de-east-1 | CH eu-central-2 | SE eu-north-1 | IT eu-south-1
ES eu-south-2 | ZA af-south-1 | BH me-south-1 | AE me-central-1 | IL il-central-1 | HK ap-east-1
TW ap-east-2 | JP ap-northeast-1 ap-northeast-3 jp | KR ap-northeast-2 | SG ap-southeast-1
AU ap-southeast-2 ap-southeast-4 au | ID ap-southeast-3 | MY ap-southeast-5 | NZ ap-southeast-6
TH ap-southeast-7 | IN ap-south-1 ap-south-2 in | CN cn-north-1 cn-northwest-1
""",
    "azure": """
US eastus eastus2 centralus northcentralus southcentralus westcentralus westus westus2 westus3
US usgovarizona usgovtexas usgovvirginia usdodcentral usdodeast
CA canadacentral canadaeast | MX mexicocentral | BR brazilsouth brazilsoutheast | CL chilecentral
AT austriaeast | BE belgiumcentral | CH switzerlandnorth switzerlandwest
DE germanynorth germanywestcentral | ES spaincentral | FR francecentral francesouth
GB uksouth ukwest | IE northeurope | IT italynorth | NL westeurope | NO norwayeast norwaywest
PL polandcentral | SE swedencentral swedensouth | AE uaecentral uaenorth | IL israelcentral
QA qatarcentral | ZA southafricanorth southafricawest
AU australiacentral australiacentral2 australiaeast australiasoutheast | NZ newzealandnorth
CN chinaeast chinaeast2 chinaeast3 chinanorth chinanorth2 chinanorth3 | HK eastasia
ID indonesiacentral | IN centralindia southindia westindia jioindiacentral jioindiawest
JP japaneast japanwest | KR koreacentral koreasouth | MY malaysiawest | SG southeastasia
""",
    "google": """
US us-central1 us-east1 us-east4 us-east5 us-south1 us-west1 us-west2 us-west3 us-west4
CA northamerica-northeast1 northamerica-northeast2 | MX northamerica-south1
BR southamerica-east1 | CL southamerica-west1 | BE europe-west1 | CH europe-west6
DE europe-west3 europe-west10 | ES europe-southwest1 | FI europe-north1 | FR europe-west9
GB europe-west2 | IT europe-west8 europe-west12 | NL europe-west4 | PL europe-central2
SE europe-north2 | ZA africa-south1 | IL me-west1 | QA me-central1 | SA me-central2
AU australia-southeast1 australia-southeast2 | HK asia-east2 | ID asia-southeast2
IN asia-south1 asia-south2 | JP asia-northeast1 asia-northeast2 | KR asia-northeast3
SG asia-southeast1 | TW asia-east1
""",
    "scaleway": """
FR fr-par fr-par-1 fr-par-2 fr-par-3 | NL nl-ams nl-ams-1 nl-ams-2 nl-ams-3
PL pl-waw pl-waw-1 pl-waw-2 pl-waw-3 | IT it-mil it-mil-1
""",
    "ovhcloud": """
FR gra gra1 gra3 gra5 gra7 gra9 gra11 rbx sbg sbg1 sbg3 sbg5 sbg7 eu-west-gra eu-west-rbx
FR eu-west-sbg eu-west-par eu-west-par-a eu-west-par-b eu-west-par-c
DE de de1 lim lim1 lim3 eu-west-lim | PL waw waw1 eu-central-waw | IT eu-south-mil
GB uk uk1 eri eri1 eu-west-eri | CA bhs bhs1 bhs3 bhs5 ca-east-bhs ca-east-tor
US vin hil us-east-va us-east-va-1 us-west-or us-west-or-1 | AU syd syd1 | IN ynm ap-south-mum
SG sgp sgp1
""",
    "ionos": """
DE de/fra de/fra/2 de/txl de-fra de-txl | ES es/vit es-vit | FR fr/par fr-par
GB gb/lhr gb/bhx gb-lhr gb-bhx | US us/ewr us/las us/mci us-ewr us-las us-mci
""",
    # eu-central is Hetzner's network zone, which joins Germany and Finland.
    "hetzner": """
DE fsn1 nbg1 | FI hel1 | EU eu-central | US ash hil us-east us-west | SG sin
""",
    "exoscale": """
AT at-vie-1 at-vie-2 | BG bg-sof-1 | CH ch-dk-2 ch-gva-2 | DE de-fra-1 de-muc-1 | HR hr-zag-1
""",
    "stackit": """
DE eu01
""",
    "oracle": """
US us-ashburn-1 us-chicago-1 us-phoenix-1 us-sanjose-1 us-gov-ashburn-1 us-gov-chicago-1
US us-gov-phoenix-1 us-langley-1 us-luke-1
CA ca-montreal-1 ca-toronto-1 | MX mx-monterrey-1 mx-queretaro-1 | BR sa-saopaulo-1 sa-vinhedo-1
CL sa-santiago-1 sa-valparaiso-1 | CO sa-bogota-1 | CH eu-zurich-1
DE eu-frankfurt-1 eu-frankfurt-2 | ES eu-madrid-1 eu-madrid-2 eu-madrid-3
FR eu-marseille-1 eu-paris-1 | GB uk-cardiff-1 uk-london-1 uk-gov-cardiff-1 uk-gov-london-1
IT eu-milan-1 eu-turin-1 | NL eu-amsterdam-1 | RS eu-jovanovac-1 | SE eu-stockholm-1
AE me-abudhabi-1 me-dubai-1 | IL il-jerusalem-1 | SA me-jeddah-1 me-riyadh-1
ZA af-johannesburg-1 | AU ap-melbourne-1 ap-sydney-1 | ID ap-batam-1
IN ap-hyderabad-1 ap-mumbai-1 | JP ap-osaka-1 ap-tokyo-1 | KR ap-chuncheon-1 ap-seoul-1
SG ap-singapore-1 ap-singapore-2
""",
    "ibm": """
US us-east us-south | CA ca-mon ca-tor | BR br-sao | DE eu-de | ES eu-es | FR eu-fr2 | GB eu-gb
AU au-syd | JP jp-osa jp-tok
""",
    "alibaba": """
CN cn-beijing cn-chengdu cn-fuzhou cn-guangzhou cn-hangzhou cn-heyuan cn-huhehaote cn-nanjing
CN cn-qingdao cn-shanghai cn-shenzhen cn-wulanchabu cn-zhangjiakou
HK cn-hongkong | DE eu-central-1 | GB eu-west-1 | US us-east-1 us-west-1 | AE me-east-1
SA me-central-1 | ID ap-southeast-5 | JP ap-northeast-1 | KR ap-northeast-2 | MX na-south-1
MY ap-southeast-3 | PH ap-southeast-6 | SG ap-southeast-1 | TH ap-southeast-7
""",
    "nebius": """
FI eu-north1 | FR eu-west1 | GB uk-south1 | IL me-west1 | US us-central1
""",
    "open-telekom-cloud": """
DE eu-de | NL eu-nl | CH eu-ch2
""",
    "upcloud": """
DE de-fra1 | DK dk-cph1 | ES es-mad1 | FI fi-hel1 fi-hel2 | GB uk-lon1 | NL nl-ams1 | NO no-svg1
PL pl-waw1 | SE se-sto1 | US us-chi1 us-nyc1 us-sjo1 | AU au-syd1 | SG sg-sin1
""",
    "digitalocean": """
US atl1 nyc1 nyc2 nyc3 ric1 sfo1 sfo2 sfo3 | CA tor1 | DE fra1 | GB lon1 | NL ams2 ams3 | AU syd1
IN blr1 | SG sgp1
""",
    # eu-west, Akamai's oldest region in Europe, is London.
    "akamai": """
US us-central us-east us-iad us-lax us-mia us-ord us-sea us-southeast us-west | CA ca-central
BR br-gru | DE eu-central de-fra-2 | ES es-mad | FR fr-par | GB eu-west gb-lon | IT it-mil
NL nl-ams | SE se-sto | AU ap-southeast au-mel | ID id-cgk | IN ap-west in-bom-2 in-maa
JP ap-northeast jp-osa jp-tyo-3 | SG ap-south sg-sin-2
""",
    "vultr": """
US atl dfw ewr hnl lax mia ord sea sjc | CA yto | MX mex | BR sao | CL scl | DE fra | ES mad
FR cdg | GB lhr man | NL ams | PL waw | SE sto | IL tlv | ZA jnb | AU mel syd | IN blr bom del
JP itm nrt | KR icn | SG sgp
""",
    "crusoe": """
IS eu-iceland1-a | US us-east1-a us-northcentral1-a us-southcentral1-a
""",
    "tencent": """
CN ap-beijing ap-chengdu ap-chongqing ap-guangzhou ap-nanjing ap-shanghai | HK ap-hongkong
DE eu-frankfurt | RU eu-moscow | US na-ashburn na-siliconvalley | CA na-toronto | BR sa-saopaulo
ID ap-jakarta | IN ap-mumbai | JP ap-tokyo | KR ap-seoul | SG ap-singapore | TH ap-bangkok
""",
    "huawei": """
CN cn-east-2 cn-east-3 cn-north-1 cn-north-4 cn-south-1 cn-southwest-2 | HK ap-southeast-1
TH ap-southeast-2 | SG ap-southeast-3 | ID ap-southeast-4 | IE eu-west-101 | TR tr-west-1
SA me-east-1 | ZA af-south-1 | BR sa-brazil-1 | CL la-south-2 | MX la-north-2 na-mexico-1
""",
}

# Ids that say too little without the name of their cloud: others use them for other places.
PROVIDER_ONLY = frozenset("eu-west eu-central ap-south ap-west ap-southeast ap-northeast".split())

# A word of a provider's name → its cloud, as LiteLLM, models.dev and the clouds themselves spell it.
PROVIDER_WORDS: dict[str, str] = {
    word: cloud
    for cloud, words in {
        "aws": "aws amazon bedrock sagemaker",
        "azure": "azure",
        "google": "google vertex gemini gcp",
        "scaleway": "scaleway",
        "ovhcloud": "ovhcloud ovh",
        "ionos": "ionos",
        "hetzner": "hetzner",
        "exoscale": "exoscale",
        "stackit": "stackit",
        "oracle": "oracle oci",
        "ibm": "ibm watsonx",
        "alibaba": "alibaba aliyun dashscope qwen qwencloud",
        "nebius": "nebius",
        "open-telekom-cloud": "otc telekom",
        "upcloud": "upcloud",
        "digitalocean": "digitalocean gradient",
        "akamai": "akamai linode",
        "vultr": "vultr",
        "crusoe": "crusoe",
        "tencent": "tencent",
        "huawei": "huawei",
    }.items()
    for word in words.split()
}
